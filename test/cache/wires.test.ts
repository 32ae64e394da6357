/** The cache on real dispatchers, over each wire. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Agent, cacheStores, fetch, interceptors, Pool, request } from '../../src/index.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import {
  type Listener,
  overEachWire,
  startOrigin,
  type TestOrigin,
  type Wire,
  wireOptions,
} from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

/** Counts, and answers conditional requests with 304. */
function counting(
  control: string,
  more: Record<string, string> = {},
): { listener: Listener; count: () => number } {
  let count = 0
  const listener: Listener = (request, response) => {
    count++
    if (request.method === 'POST') {
      response.writeHead(204).end()
      return
    }
    if (request.headers['if-none-match'] === '"1"') {
      response.writeHead(304, { etag: '"1"', 'cache-control': control }).end()
      return
    }
    response.writeHead(200, { 'cache-control': control, etag: '"1"', ...more })
    response.end(`${request.method} ${count}`)
  }
  return { listener, count: () => count }
}

overEachWire('the cache', (wire: Wire) => {
  test('stores, serves, confirms, invalidates', async (t) => {
    const { listener, count } = counting('max-age=60')
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.cache())
    const first = await client.request(GET)
    assert.equal(await first.body.text(), 'GET 1')
    const second = await client.request(GET)
    assert.equal(await second.body.text(), 'GET 1')
    // Seconds, and the clock may have ticked.
    assert.match(String(second.headers['age']), /^[0-9]+$/)
    assert.equal(count(), 1)
    const confirmed = await client.request({ ...GET, headers: { 'cache-control': 'no-cache' } })
    assert.deepEqual([confirmed.statusCode, await confirmed.body.text()], [200, 'GET 1'])
    assert.equal(count(), 2)
    await (await client.request({ path: '/', method: 'POST' })).body.dump()
    assert.equal(await (await client.request(GET)).body.text(), 'GET 4')
  })

  test('a hit through every method, and with a signal', async (t) => {
    const { listener, count } = counting('max-age=60')
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.cache())
    await (await client.request(GET)).body.dump()
    const streamed: Buffer[] = []
    await client.stream(
      GET,
      () =>
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            streamed.push(chunk)
            done()
          },
        }),
    )
    assert.equal(Buffer.concat(streamed).toString(), 'GET 1')
    const duplex = client.pipeline(GET, ({ body }) => body)
    assert.equal((await contentOf(duplex.end())).toString(), 'GET 1')
    const raw = await client.request({ ...GET, responseHeaders: 'raw' })
    assert.ok((raw.headers as unknown as string[]).includes('age'))
    await raw.body.dump()
    const reason = new Error('enough')
    assert.equal(await failure(client.request({ ...GET, signal: AbortSignal.abort(reason) })), reason)
    const late = new AbortController()
    const aborted = failure(client.request({ ...GET, signal: late.signal }))
    late.abort(reason)
    assert.equal(await aborted, reason)
    const held = new AbortController()
    const { body } = await client.request({ ...GET, signal: held.signal })
    held.abort(reason)
    await assert.rejects(body.text(), reason)
    assert.equal(count(), 1)
  })

  test('a large body, read slowly', async (t) => {
    const content = Buffer.alloc(1_000_000, 'abc')
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end(content)
    })
    const client = origin.client().compose(interceptors.cache())
    for (let i = 0; i < 2; i++) {
      const { body } = await client.request(GET)
      assert.ok(content.equals(await contentOf(body)))
    }
  })

  for (const [kind, length] of [
    ['truncated', { 'content-length': '10' }],
    ['chunked or unbounded, cut off', {}],
  ] as const)
    test(`security 6: a ${kind} body is never stored`, async (t) => {
      const store = new cacheStores.MemoryCacheStore()
      const origin = await startOrigin(t, wire, (_request, response) => {
        response.writeHead(200, { 'cache-control': 'max-age=60', ...length })
        response.write('half', () =>
          setImmediate(() => (wire.multiplexes ? response.destroy() : response.socket!.destroy())),
        )
      })
      const client = origin.client().compose(interceptors.cache({ store }))
      const { body } = await client.request(GET)
      await failure(body.text())
      assert.equal(store.size, 0)
    })

  test('103 before a 304', async (t) => {
    let count = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      count++
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      if (request.headers['if-none-match']) response.writeHead(304).end()
      else response.writeHead(200, { 'cache-control': 'no-cache', etag: '"1"' }).end('x')
    })
    const client = origin.client().compose(interceptors.cache())
    for (let i = 0; i < 3; i++) {
      const { statusCode, body } = await client.request(GET)
      assert.deepEqual([statusCode, await body.text()], [200, 'x'])
    }
    assert.equal(count, 3)
  })

  test('stale while the origin is down', async (t) => {
    const { listener } = counting('max-age=0, stale-if-error=600')
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.cache())
    await (await client.request(GET)).body.dump()
    await down(origin)
    const { headers, body } = await client.request(GET)
    assert.deepEqual([await body.text(), headers['warning']], ['GET 1', '110 - "response is stale"'])
  })

  test('collapsed requests', async (t) => {
    const { listener, count } = counting('max-age=60')
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.cache({ collapse: true }))
    const bodies = await Promise.all(
      Array.from({ length: 10 }, async () => (await client.request(GET)).body.text()),
    )
    assert.deepEqual(new Set(bodies), new Set(['GET 1']))
    assert.equal(count(), 1)
  })
})

async function down(origin: TestOrigin): Promise<void> {
  origin.server.close()
  for (const socket of origin.sockets) socket.destroy()
  await eventually(() => origin.sockets.every((socket) => socket.destroyed))
}

describe('other dispatchers', () => {
  const wire: Wire = { name: 'h1', secure: false, multiplexes: false }

  test('a Pool, an Agent, fetch, and the global functions', async (t) => {
    const { listener, count } = counting('max-age=60')
    const origin = await startOrigin(t, wire, listener)
    const store = new cacheStores.MemoryCacheStore()
    const pool = new Pool(origin.url).compose(interceptors.cache({ store }))
    const agent = new Agent(wireOptions(wire) as object).compose(interceptors.cache({ store }))
    t.after(() => Promise.all([pool.destroy(), agent.destroy()]))
    assert.equal(await (await pool.request(GET)).body.text(), 'GET 1')
    assert.equal(await (await request(origin.url, { dispatcher: agent })).body.text(), 'GET 1')
    for (let i = 0; i < 2; i++) {
      const response = await fetch(origin.url, { dispatcher: agent })
      assert.match(response.headers.get('age')!, /^\d+$/)
      assert.equal(await response.text(), 'GET 1')
    }
    assert.equal(count(), 1)
  })

  test('a hit that was asked for before close() is answered', async (t) => {
    const { listener } = counting('max-age=60')
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client()
    const composed = client.compose(interceptors.cache())
    await (await composed.request(GET)).body.dump()
    const hit = composed.request(GET)
    await client.close()
    assert.equal(await (await hit).body.text(), 'GET 1')
  })
})
