/** A background request whose response is not stored after all: nobody gets it, and it is not read at any price. */
import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { it } from 'node:test'
import { cacheStores, interceptors } from '../../src/index.ts'
import { MAX_DISCARDED_BYTES, MAX_DISCARDING_TIME } from '../../src/relay/discarded-body.ts'
import { deferred } from '../support/exchange.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { overEachWire, startOrigin, type Wire } from '../support/wire.ts'

const STALE = { 'cache-control': 'max-age=0, stale-while-revalidate=1000', etag: '"1"' }
const LIMIT = 1000

type Refresh = (response: ServerResponse) => void

const head =
  (status: number, headers: OutgoingHttpHeaders, content: string): Refresh =>
  (response) => {
    response.writeHead(status, headers)
    response.write(content)
  }

const UNSTORABLE: Readonly<Record<string, Refresh>> = {
  'a response that must not be stored': head(200, { 'cache-control': 'no-store' }, 'a'),
  'an error': head(500, {}, 'a'),
  'a response that is too long to be stored': head(200, STALE, 'a'.repeat(LIMIT + 1)),
}

async function refreshed(
  t: Parameters<typeof startOrigin>[0],
  wire: Wire,
  refresh: Refresh,
): Promise<{ response: ServerResponse; closed: Promise<void> }> {
  const asked = deferred<ServerResponse>()
  const closed = deferred()
  const origin = await startOrigin(t, wire, (request, response) => {
    response.on('error', () => {})
    if (request.headers['if-none-match'] === undefined) {
      response.writeHead(200, STALE)
      response.end('stored')
      return
    }
    response.on('close', () => closed.resolve())
    refresh(response)
    asked.resolve(response)
  })
  const store = new cacheStores.MemoryCacheStore({ maxEntrySize: LIMIT })
  const client = origin.client({ bodyTimeout: 0 }).compose(interceptors.cache({ store }))
  for (let i = 0; i < 2; i++) {
    const { body } = await client.request({ path: '/', method: 'GET' })
    assert.equal(await body.text(), 'stored')
  }
  return { response: await asked.promise, closed: closed.promise }
}

overEachWire('stale-while-revalidate', (wire) => {
  for (const [name, refresh] of Object.entries(UNSTORABLE)) {
    it(`${name} is read for a second`, async (t) => {
      const clock = FakeClock.install(t)
      const { closed } = await refreshed(t, wire, refresh)
      await eventually(() => [...clock.active].some(({ delay }) => delay === MAX_DISCARDING_TIME))
      await clock.advance(MAX_DISCARDING_TIME)
      await closed
    })

    it(`${name} is read up to 64 KiB`, async (t) => {
      FakeClock.install(t)
      const { response, closed } = await refreshed(t, wire, refresh)
      response.write(Buffer.alloc(MAX_DISCARDED_BYTES + LIMIT))
      await closed
    })
  }
})
