/** Bodies that nobody wants and that do not end: behind redirects, errors, and callers that have left. */
import assert from 'node:assert/strict'
import type http from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { Agent, fetch, interceptors } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { overEachWire, startOrigin, type Wire, wireOptions } from '../support/wire.ts'

interface Trickling {
  readonly url: string
  readonly agent: Agent
  /** The origin's side of the body that does not end has closed. */
  readonly closed: Promise<unknown>
}

interface Head {
  readonly status: number
  readonly headers?: http.OutgoingHttpHeaders
  /** Ends the body. */
  readonly isWhole?: boolean
}

/** `/` gets the heads, the last of them again and again, with bodies that do not end; `/next` is answered at once. */
async function trickling(t: TestContext, wire: Wire, ...heads: Head[]): Promise<Trickling> {
  const closed = deferred<void>()
  const origin = await startOrigin(t, wire, (request, response) => {
    if (request.url !== '/') {
      response.end('answer')
      return
    }
    const { status, headers = {}, isWhole } = heads.length > 1 ? heads.shift()! : heads[0]!
    response.writeHead(status, headers)
    if (isWhole) {
      response.end('whole')
      return
    }
    const timer = setInterval(() => response.write('.'), 50)
    t.after(() => clearInterval(timer))
    response.on('error', () => {})
    response.on('close', () => {
      clearInterval(timer)
      closed.resolve()
    })
    response.write('begin')
  })
  const agent = new Agent({ ...wireOptions(wire), bodyTimeout: 0 })
  t.after(() => agent.destroy())
  return { url: `${origin.url}/`, agent, closed: closed.promise }
}

overEachWire('a body that trickles', (wire) => {
  // Together, because each waits for a second.
  describe('is given up', { concurrency: true }, () => {
    test('behind a redirect that fetch follows', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 302, headers: { location: '/next' } })
      const response = await fetch(url, { dispatcher: agent })
      assert.equal(await response.text(), 'answer')
      await closed
    })

    test('behind a redirect that the interceptor follows', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 302, headers: { location: '/next' } })
      const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 1 }))
      const { body } = await dispatcher.request({ origin: new URL(url).origin, path: '/', method: 'GET' })
      assert.equal(await body.text(), 'answer')
      await closed
    })

    test('behind a status that responseError rejects with', async (t) => {
      const headers = { 'content-type': 'text/plain' }
      const { url, agent, closed } = await trickling(t, wire, { status: 500, headers })
      const dispatcher = agent.compose(interceptors.responseError())
      const error = await failure(
        dispatcher.request({ origin: new URL(url).origin, path: '/', method: 'GET' }),
      )
      assert.deepEqual([error['statusCode'], error['bodyTruncated']], [500, true])
      assert.match(error['body'] as string, /^begin\.+$/)
      await closed
    })

    test('behind a status for which a stored response answers', async (t) => {
      const { url, agent, closed } = await trickling(
        t,
        wire,
        {
          status: 200,
          headers: { 'cache-control': 'max-age=0, stale-if-error=60', etag: '"1"' },
          isWhole: true,
        },
        { status: 503 },
      )
      const dispatcher = agent.compose(interceptors.cache())
      for (let i = 0; i < 2; i++) {
        const { statusCode, body } = await dispatcher.request({
          origin: new URL(url).origin,
          path: '/',
          method: 'GET',
        })
        assert.deepEqual([statusCode, await body.text()], [200, 'whole'])
      }
      await closed
    })

    test('behind a status that is retried', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 503 }, { status: 200, isWhole: true })
      const dispatcher = agent.compose(interceptors.retry({ minTimeout: 1 }))
      const { body } = await dispatcher.request({ origin: new URL(url).origin, path: '/', method: 'GET' })
      assert.equal(await body.text(), 'whole')
      await closed
    })

    test('with dump(): resolves', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 200 })
      const { body } = await agent.request({ origin: new URL(url).origin, path: '/', method: 'GET' })
      assert.equal(await body.dump(), null)
      await closed
    })

    test('with the interceptor dump, after its caller has aborted', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 200 })
      const dispatcher = agent.compose(interceptors.dump())
      const abort = new AbortController()
      const { body } = await dispatcher.request({
        origin: new URL(url).origin,
        path: '/',
        method: 'GET',
        signal: abort.signal,
      })
      abort.abort()
      await failure(body.text())
      await closed
    })

    test('behind an opaque response', async (t) => {
      const away = await trickling(t, wire, { status: 200 })
      const home = await trickling(t, wire, { status: 302, headers: { location: away.url }, isWhole: true })
      const response = await fetch(home.url, { dispatcher: home.agent, mode: 'no-cors' })
      assert.equal(response.type, 'opaque')
      await away.closed
    })

    test('of a status without a body', async (t) => {
      const { url, agent, closed } = await trickling(t, wire, { status: 205 })
      const response = await fetch(url, { dispatcher: agent })
      assert.equal(response.body, null)
      await closed
    })
  })
})

overEachWire('a body that is read elsewhere', (wire) => {
  test('is not cut short by dump()', async (t) => {
    const clock = FakeClock.install(t)
    const slow = deferred<http.ServerResponse>()
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.write('slow ')
      slow.resolve(response)
    })
    const { body } = await origin.client().request({ path: '/', method: 'GET' })
    const text = body.text()
    const dumped = body.dump()
    const response = await slow.promise
    await clock.advance(1200)
    response.end('body')
    assert.equal(await text, 'slow body')
    assert.equal(await dumped, null)
  })
})
