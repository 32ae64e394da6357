/** The channels that observe requests observe those of `fetch`, too. */
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import { fetch } from '../../src/index.ts'
import { type Echo, echo } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

interface Observed {
  readonly method: string
  readonly path: string
  readonly origin: string
  addHeader(name: string, value: string): void
}

function subscribe(t: TestContext, name: string, listener: (message: never) => void): void {
  const subscribed = channel(`undici:request:${name}`)
  const onMessage = listener as (message: unknown) => void
  subscribed.subscribe(onMessage)
  t.after(() => subscribed.unsubscribe(onMessage))
}

overEachWire('diagnostics of a fetch', (wire) => {
  test('a header that a subscriber adds reaches the origin', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    subscribe(t, 'create', ({ request }: { request: Observed }) =>
      request.addHeader('traceparent', '00-1-2-01'),
    )
    const dispatcher = agentFor(t, wire)
    for (const init of [{}, { method: 'POST', body: 'text', headers: { 'x-own': '1' } }]) {
      const response = await fetch(`${origin.url}/path?query`, { ...init, dispatcher })
      const { headers, body } = (await response.json()) as Echo
      assert.equal(headers['traceparent'], '00-1-2-01')
      assert.deepEqual([headers['x-own'], body], 'body' in init ? ['1', 'text'] : [undefined, ''])
    }
  })

  test('each hop is a request, and each has its own header and trailer messages', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/there') response.end('text')
      else response.writeHead(302, { location: '/there' }).end()
    })
    const seen: string[] = []
    const note = (name: string) =>
      subscribe(t, name, ({ request }: { request: Observed }) => {
        if (request.origin === origin.url) seen.push(`${name} ${request.method} ${request.path}`)
      })
    for (const name of ['create', 'headers', 'trailers']) note(name)
    const response = await fetch(`${origin.url}/here`, { dispatcher: agentFor(t, wire) })
    assert.equal(await response.text(), 'text')
    const hop = (path: string) => ['create', 'headers', 'trailers'].map((name) => `${name} GET ${path}`)
    assert.deepEqual(seen.toSorted(), [...hop('/here'), ...hop('/there')].toSorted())
  })
})
