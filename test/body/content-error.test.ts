/** `json()` and `formData()` of what is neither: the error tells which response that was. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import {
  Agent,
  Client,
  type ContentErrorContext,
  fetch,
  interceptors,
  Response,
  request,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'

const PAGE = `<html><head><title>502 Bad Gateway</title></head>\n<body>${'x'.repeat(500)}</body></html>`

async function startServer(t: TestContext, contentType: string | null, body: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.statusCode = 502
    if (contentType !== null) response.setHeader('content-type', contentType)
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

type ContentError = Error & ContentErrorContext

function check(error: Error, url: string): void {
  const { message, stack, excerpt, ...fields } = error as ContentError
  assert.equal(error.constructor, SyntaxError)
  assert.equal(error.name, 'SyntaxError')
  assert.throws(() => JSON.parse(PAGE), { message })
  assert.deepEqual({ ...fields }, { url, statusCode: 502, contentType: 'text/html' })
  assert.ok(excerpt.startsWith('<html><head><title>502 Bad Gateway</title></head> <body>xxx'))
  assert.equal(excerpt.length, 120)
  assert.equal(stack!.split('\n')[0], `SyntaxError: ${message} (${url} answered 502 text/html: ${excerpt})`)
  assert.match(inspect(error), /statusCode: 502/)
}

test('json() of a response of request()', async (t) => {
  const host = await startServer(t, 'text/html', PAGE)
  const opts = { query: { token: 'secret' } }
  const { body } = await request(`http://user:password@${host}/a/b`, opts)
  check(await failure(body.json()), `http://${host}/a/b`)
  const client = new Client(`http://${host}`)
  t.after(() => client.close())
  for (const dispatcher of [client, client.compose(interceptors.redirect())]) {
    const response = await dispatcher.request({ path: '/c?token=secret', method: 'GET' })
    check(await failure(response.body.json()), `http://${host}/c`)
  }
  const agent = new Agent()
  t.after(() => agent.close())
  const origin = new URL(`http://${host}`)
  const response = await agent.request({ origin, path: '/d', method: 'GET' })
  check(await failure(response.body.json()), `http://${host}/d`)
})

test('json() that was asked for before the body came, and after', async (t) => {
  const host = await startServer(t, 'text/html', PAGE)
  const early = await request(`http://${host}/`)
  check(await failure(early.body.json()), `http://${host}/`)
  const late = await fetch(`http://${host}/`)
  await new Promise((resolve) => setImmediate(resolve))
  check(await failure(late.json()), `http://${host}/`)
})

test('json() of a response of fetch()', async (t) => {
  const host = await startServer(t, 'text/html', PAGE)
  const url = `http://${host}/a?token=secret#part`
  check(await failure((await fetch(url)).json()), `http://${host}/a`)
  check(await failure((await fetch(url)).clone().json()), `http://${host}/a`)
})

test('formData() of what is no form', async (t) => {
  const host = await startServer(t, 'text/html', PAGE)
  const error = (await failure((await fetch(`http://${host}/a`)).formData())) as unknown as ContentError
  assert.equal(error.constructor, TypeError)
  assert.match(error.message, /^Content-Type was not one of/)
  assert.equal(error.url, `http://${host}/a`)
  assert.equal(error.statusCode, 502)
  assert.equal(error.contentType, 'text/html')
})

test('an empty body without a content type', async (t) => {
  const host = await startServer(t, null, '')
  const error = (await failure((await request(`http://${host}/`)).body.json())) as unknown as ContentError
  assert.equal(error.excerpt, '')
  assert.equal(error.contentType, '')
  assert.match(error.stack!.split('\n')[0]!, / \(http:\/\/127\.0\.0\.1:\d+\/ answered 502\)$/)
})

test('control characters of the peer are not printed', async (t) => {
  const host = await startServer(t, 'application/json', '\u001b[31m{"a":\r\n\u2028')
  const error = (await failure((await request(`http://${host}/`)).body.json())) as unknown as ContentError
  assert.equal(error.excerpt, ' [31m{"a": ')
})

test('a response that a program has made: as before', async () => {
  const error = await failure(new Response('<').json())
  assert.deepEqual(Object.keys(error), [])
  assert.doesNotMatch(error.stack!.split('\n')[0]!, /answered/)
})
