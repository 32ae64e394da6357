/**
 * Unread bodies, in a separate process that can collect garbage: small ones are held, large ones are aborted when they
 * are unreferenced, and a program that references a part of one gets all of it.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { deferred } from '../support/exchange.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'

const SIZE = 1_000_000
const PRELUDE = `
import { getEventListeners } from 'node:events'
const { Agent, fetch } = await import(${JSON.stringify(sourceUrl('src/index.ts'))})
const url = process.env.TEST_URL
const dispatcher = new Agent({ connect: { rejectUnauthorized: false }, useH2c: process.env.TEST_WIRE === 'h2c' })
const turns = async (count) => { for (let i = 0; i < count; i++) await new Promise(setImmediate) }
const collect = async () => { for (let i = 0; i < 10; i++) { gc(); await turns(3) } }
`

async function run(wire: Wire, url: string, program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--no-warnings', ...sourceLoader, '--input-type=module', '--eval', PRELUDE + program],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, TEST_URL: url, TEST_WIRE: wire.name },
    },
  )
  return stdout.trim()
}

async function start(
  t: TestContext,
  wire: Wire,
): Promise<{ url: string; given: Promise<void>; readonly count: number }> {
  const given = deferred()
  const state = { count: 0 }
  const origin = await startOrigin(t, wire, (request, response) => {
    if (request.url === '/small') return void response.end('small')
    if (request.url === '/split') {
      response.write('sp')
      return void setImmediate(() => response.end('lit'))
    }
    if (request.url === '/trickle') response.write('x')
    else response.write(Buffer.alloc(SIZE, 'x'))
    response.on('close', () => {
      if (response.writableEnded) return
      state.count++
      given.resolve()
    })
    if (request.url === '/whole') response.end()
  })
  return {
    url: origin.url,
    given: given.promise,
    get count() {
      return state.count
    },
  }
}

/** One process for each wire: starting it takes longer than its work. */
const PROGRAM = `
const stats = () => Object.values(dispatcher.stats)
// A fake clock that is removed while its immediates are pending.
const { setImmediate: ofRuntime } = globalThis
globalThis.setImmediate = () => {}
await (async () => { await fetch(url + '/large', { dispatcher }) })()
globalThis.setImmediate = ofRuntime
await (async () => { await fetch(url + '/large', { dispatcher }) })()
await (async () => { const r = await fetch(url + '/large', { dispatcher }); r.clone() })()
const { signal } = new AbortController()
await (async () => { await fetch(url + '/trickle', { dispatcher, signal }) })()
await turns(5)
while (stats().some(({ running }) => running > 0)) await collect()

const get = () => fetch(url + '/whole', { dispatcher })
const read = async (reader) => {
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return size
    size += value.length
  }
}
const response = await get()
const body = await (async () => (await get()).body)()
const reader = await (async () => (await get()).body.getReader())()
const begun = await (async () => {
  const reader = (await get()).body.getReader()
  const { value } = await reader.read()
  return { reader, size: value.length }
})()
const clone = await (async () => (await get()).clone())()
await turns(5)
await collect()
const sizes = [
  (await response.text()).length,
  await read(body.getReader()),
  await read(reader),
  begun.size + (await read(begun.reader)),
  (await clone.text()).length,
]
const pending = (async () => (await get()).text())()
await collect()
sizes.push((await pending).length)

const first = await fetch(url + '/small', { dispatcher })
for (let i = 0; i < 20; i++) await fetch(url + '/small', { dispatcher })
await collect()
const small = [await first.text(), stats().reduce((sum, { running }) => sum + running, 0)]

const shared = new AbortController().signal
await (async () => {
  for (const path of ['/small', '/split', '/split', '/split']) await fetch(url + path, { dispatcher, signal: shared })
})()
for (let i = 0; i < 10 && getEventListeners(shared, 'abort').length > 0; i++) await collect()
const listeners = getEventListeners(shared, 'abort').length
console.log(JSON.stringify({ sizes, small, listeners }))
await dispatcher.close()
`

overEachWire('a body nobody reads', (wire) => {
  test('is given up when nobody holds it, whole for whoever does; a small one is held', async (t) => {
    const origin = await start(t, wire)
    const { sizes, small, listeners } = JSON.parse(await run(wire, origin.url, PROGRAM))
    await origin.given
    // Only the three large ones and the one that trickles.
    assert.equal(origin.count, 4)
    assert.deepEqual(sizes, Array(6).fill(SIZE))
    assert.deepEqual(small, ['small', 0])
    assert.equal(listeners, 0)
  })
})

test("a collection takes away neither a caller's stream nor an abort", async () => {
  const program = `
    const { Request, Response } = await import(${JSON.stringify(sourceUrl('src/index.ts'))})
    const outcome = { cancelled: false, aborted: [] }
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1))
        controller.close()
      },
      cancel() { outcome.cancelled = true },
    }, { highWaterMark: 0 })
    ;(() => { new Response(stream) })()
    const controller = new AbortController()
    ;(() => {
      const request = new Request('http://a.test', { signal: controller.signal })
      for (const { signal } of [request, request.clone(), new Request(request)]) {
        signal.addEventListener('abort', () => outcome.aborted.push(signal.reason))
      }
    })()
    await collect()
    outcome.read = 0
    for await (const chunk of stream) outcome.read += chunk.length
    controller.abort('why')
    console.log(JSON.stringify(outcome))
    await dispatcher.close()
  `
  const wire: Wire = { name: 'h1', secure: false, multiplexes: false }
  assert.deepEqual(JSON.parse(await run(wire, '', program)), {
    cancelled: false,
    aborted: ['why', 'why', 'why'],
    read: 1,
  })
})

test('nothing loads the HTTP client of the runtime but FormData', async (t) => {
  // Without `startOrigin` and tsx: the program imports only the library.
  const origin = await startOrigin(t, { name: 'h1', secure: false, multiplexes: false }, (_, response) => {
    response.setHeader('content-type', 'application/x-www-form-urlencoded')
    response.end('a=1')
  })
  const program = `
    const loaded = () => process.moduleLoadList.some((name) => name.includes('undici'))
    const states = [loaded()]
    const { Request, Response, Headers, FormData } = await import(${JSON.stringify(sourceUrl('src/index.ts'))})
    const get = () => fetch(new Request(url, { headers: new Headers({ a: 'b' }) }), { dispatcher })
    await (await get()).text()
    await (await get()).json().catch(() => {})
    await (await get()).blob()
    await (await get()).arrayBuffer()
    for await (const _ of (await get()).clone().body);
    for await (const _ of (await get()).textStream());
    await fetch(url, { dispatcher, method: 'POST', body: new Response('x').body, duplex: 'half' })
    await fetch(url, { dispatcher, signal: AbortSignal.abort() }).catch(() => {})
    states.push(loaded())
    await (await get()).formData()
    states.push(loaded())
    console.log(JSON.stringify(states))
    await dispatcher.close()
  `
  const wire: Wire = { name: 'h1', secure: false, multiplexes: false }
  assert.deepEqual(JSON.parse(await run(wire, origin.url, program)), [false, false, true])
})
