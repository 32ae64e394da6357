import assert from 'node:assert/strict'
import * as Sentry from '@sentry/node'
import { fetch, Pool, request } from '#library'
import { failure, sendJson } from '../support.mjs'

const events = []
const sent = []
/** Keeps what would be sent to Sentry. */
const transport = () => ({
  send: async (envelope) => {
    sent.push(envelope)
    return {}
  },
  flush: async () => true,
})

Sentry.init({
  dsn: 'http://key@127.0.0.1/1',
  transport,
  tracesSampleRate: 1,
  traceLifecycle: 'static',
  tracePropagationTargets: [/127\.0\.0\.1|localhost/],
  beforeSendTransaction: (event) => {
    events.push(event)
    return event
  },
})

/** The transaction of what `work` did. */
async function transaction(work) {
  events.length = 0
  await Sentry.startSpan({ name: 'root', op: 'test', forceTransaction: true }, work)
  await Sentry.flush(2_000)
  return events.at(-1)
}

const httpSpans = ({ spans }) => spans.filter(({ op }) => op === 'http.client')
const origin = (t) => t.serve((incoming, response) => sendJson(response, { headers: incoming.headers }))

export default {
  package: '@sentry/node',
  about: 'spans, breadcrumbs, trace headers',
  own: true,
  checks: {
    'makes a span of request()': async (t) => {
      const at = await origin(t)
      const seen = await transaction(async () => (await request(`${at}/path`)).body.dump())
      const [span] = httpSpans(seen)
      assert.equal(span.data['http.response.status_code'], 200)
      assert.match(span.description, /^GET http:\/\/localhost:\d+\/path/)
    },
    'makes a span of fetch()': async (t) => {
      const at = await origin(t)
      const seen = await transaction(async () => (await fetch(at)).text())
      assert.equal(httpSpans(seen).length, 1)
    },
    'makes a span of a Pool': async (t) => {
      const at = await origin(t)
      const pool = new Pool(at)
      t.after(() => pool.close())
      const seen = await transaction(async () =>
        (await pool.request({ path: '/', method: 'GET' })).body.dump(),
      )
      assert.equal(httpSpans(seen).length, 1)
    },
    'puts the trace on the wire': async (t) => {
      const at = await origin(t)
      let headers
      const seen = await transaction(async () => {
        headers = (await (await fetch(at)).json()).headers
      })
      assert.ok(headers['sentry-trace'].startsWith(seen.contexts.trace.trace_id))
      assert.match(headers.baggage, /sentry-trace_id=/)
    },
    'leaves a breadcrumb': async (t) => {
      const at = await origin(t)
      await Sentry.withIsolationScope(async (scope) => {
        await (await request(`${at}/crumb`)).body.dump()
        const crumb = scope.getScopeData().breadcrumbs.findLast(({ category }) => category === 'http')
        assert.match(crumb.data.url, /\/crumb$/)
        assert.equal(crumb.data.status_code, 200)
      })
    },
    'marks a failure': async (t) => {
      const at = await t.nowhere()
      const seen = await transaction(() => failure(request(at)))
      const [span] = httpSpans(seen)
      assert.notEqual(span?.status, 'ok')
      assert.notEqual(span, undefined)
    },
    'groups our errors by their message': async (t) => {
      const at = await t.serveSockets((socket) => socket.once('data', () => socket.end()))
      sent.length = 0
      Sentry.captureException(await failure(request(at, { method: 'POST', body: 'x' })))
      await Sentry.flush(2_000)
      const [, [[, event]]] = sent.find(([, items]) => items[0][0].type === 'event')
      const value = event.exception.values.at(-1)
      assert.deepEqual([value.type, value.value], ['SocketError', 'other side closed'])
      assert.ok(value.stacktrace.frames.length > 0)
    },
  },
}
