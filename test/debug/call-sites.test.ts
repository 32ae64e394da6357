/** RUNTIME_DEBUG=stacks: the errors of requests show the line that made them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

/** Each function has a name of its own, which is in the stack. */
const SCRIPT = `
  import { createServer } from 'node:net'
  import { Agent, Client, fetch, request } from '${sourceUrl('src/index.ts')}'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      if (String(data).includes('/body')) socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 9\\r\\n\\r\\na')
      setImmediate(() => socket.destroy())
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = 'http://127.0.0.1:' + server.address().port
  const client = new Client(url)
  const own = new Error('mine')
  const calls = {
    inRequest: function inRequest() { return request(url) },
    inClient: function inClient() { return client.request({ path: '/', method: 'GET' }) },
    inBody: function inBody() { return request(url + '/body').then(({ body }) => body.text()) },
    inFetch: function inFetch() { return fetch(url) },
    inFetchBody: function inFetchBody() { return fetch(url + '/body').then((response) => response.text()) },
    inRefused: function inRefused() { return request('http://127.0.0.1:1') },
    inBad: function inBad() { return request(url, { headers: { 'a b': 1 } }) },
  }
  const stacks = {}
  for (const [name, call] of Object.entries(calls)) {
    await call().then(() => { stacks[name] = 'no error' }, (error) => { stacks[name] = error.stack })
  }
  const frozen = Object.freeze(new Error('frozen'))
  await request(url, { signal: AbortSignal.abort(frozen) }).catch(() => {})
  console.log(JSON.stringify(stacks))
  server.close()
  await client.destroy()
`

async function stacksWith(flags: string): Promise<Record<string, string>> {
  const args = [...sourceLoader, '--input-type=module', '--eval', SCRIPT]
  const env = { ...process.env, RUNTIME_DEBUG: flags }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as Record<string, string>
}

test('with the flag: each stack names the function that made the request', async () => {
  const stacks = await stacksWith('stacks')
  assert.equal(Object.keys(stacks).length, 7)
  for (const [name, stack] of Object.entries(stacks)) {
    const at = stack.indexOf('--- the call that failed:')
    if (name !== 'inBad') assert.notEqual(at, -1, stack)
    assert.match(stack.slice(Math.max(at, 0)).split('\n')[1]!, new RegExp(`at (?:\\w+\\.)?${name} `), stack)
  }
})

test('without it: nothing is added', async () => {
  for (const [name, stack] of Object.entries(await stacksWith(''))) {
    assert.doesNotMatch(stack, /the call that failed/, name)
  }
})
