/** `stale-if-error` stands in for the origin and the way to it, not for a decision on this side. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cacheStores, interceptors, Pool } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { type Listener, overEachWire, startOrigin, type Wire, wireOptions } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const
const HEAD = { 'cache-control': 'max-age=0, stale-if-error=60', etag: '"1"' }

/** Answers once, and never again; a connection may be cut. */
function once(): { listener: Listener; asked: Promise<{ cut(): void }> } {
  let count = 0
  const { promise, resolve } = deferred<{ cut(): void }>()
  return {
    asked: promise,
    listener: (request, response) => {
      count++
      if (count === 1) response.writeHead(200, HEAD).end('stored')
      else resolve({ cut: () => void request.socket.destroy() })
    },
  }
}

function poolOf(t: TestContext, wire: Wire, url: string): Pool {
  const pool = new Pool(url, wireOptions(wire))
  t.after(() => pool.destroy())
  return pool
}

overEachWire('stale-if-error', (wire: Wire) => {
  for (const [name, reason] of [
    ['an error', () => new Error('shutting down')],
    ['an error with a code', () => Object.assign(new Error('shutting down'), { code: 'ECONNRESET' })],
  ] as const) {
    test(`destroy() with ${name} while a stored response is checked: the caller gets the error`, async (t) => {
      const { listener, asked } = once()
      const origin = await startOrigin(t, wire, listener)
      const pool = poolOf(t, wire, origin.url)
      const client = pool.compose(interceptors.cache())
      assert.equal(await (await client.request(GET)).body.text(), 'stored')
      const failed = failure(client.request(GET))
      await asked
      const error = reason()
      void pool.destroy(error)
      assert.equal(await failed, error)
    })
  }

  test('a connection that is lost while the dispatcher closes: the stored response answers', async (t) => {
    const { listener, asked } = once()
    const origin = await startOrigin(t, wire, listener)
    const pool = poolOf(t, wire, origin.url)
    const client = pool.compose(interceptors.cache())
    assert.equal(await (await client.request(GET)).body.text(), 'stored')
    const second = client.request({ ...GET, idempotent: false })
    const { cut } = await asked
    const closed = pool.close()
    cut()
    assert.equal(await (await second).body.text(), 'stored')
    await closed
  })

  test('the refusal of a guard: the caller gets it', async (t) => {
    const { listener } = once()
    const origin = await startOrigin(t, wire, listener)
    const store = new cacheStores.MemoryCacheStore()
    const open = poolOf(t, wire, origin.url).compose(interceptors.cache({ store }))
    assert.equal(await (await open.request(GET)).body.text(), 'stored')
    const guarded = poolOf(t, wire, origin.url).compose(
      interceptors.guard({ policy: 'public-only' }),
      interceptors.cache({ store }),
    )
    const error = await failure(guarded.request(GET))
    assert.equal(error.code, 'UND_ERR_BLOCKED_ADDRESS')
  })
})
