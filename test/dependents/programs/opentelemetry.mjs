import assert from 'node:assert/strict'
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Agent, Client, fetch, Pool, request, stream } from '#library'
import { ca, failure, sendJson } from '../support.mjs'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

/** The spans of what `work` did. */
async function traced(t, work, options = {}) {
  exporter.reset()
  const instrumentation = new UndiciInstrumentation(options)
  instrumentation.setTracerProvider(provider)
  t.after(() => instrumentation.disable())
  const parent = provider.getTracer('test').startSpan('parent')
  await context.with(trace.setSpan(context.active(), parent), work)
  parent.end()
  return exporter.getFinishedSpans().filter(({ name }) => name !== 'parent')
}

/** Answers with the trace context it got. */
const origin = (t) =>
  t.serve((incoming, response) =>
    sendJson(response, { traceparent: incoming.headers.traceparent ?? null }, 200),
  )

export default {
  package: '@opentelemetry/instrumentation-undici',
  about: 'spans, attributes, trace context on the wire',
  own: true,
  checks: {
    'makes a span with its attributes': async (t) => {
      const at = await origin(t)
      const [span] = await traced(t, async () => {
        const { body } = await request(`${at}/path?a=b`, { headers: { 'user-agent': 'me' } })
        await body.dump()
      })
      assert.equal(span.name, 'GET')
      const { attributes } = span
      assert.equal(attributes['http.request.method'], 'GET')
      assert.equal(attributes['http.response.status_code'], 200)
      assert.equal(attributes['url.path'], '/path')
      assert.equal(attributes['url.full'], `${at}/path?a=b`)
      assert.equal(attributes['server.address'], 'localhost')
      assert.equal(attributes['server.port'], Number(new URL(at).port))
      assert.equal(attributes['user_agent.original'], 'me')
      assert.equal(attributes['network.peer.address'], '127.0.0.1')
    },
    'puts the context on the wire': async (t) => {
      const at = await origin(t)
      let got
      const [span] = await traced(t, async () => {
        got = (await (await request(at)).body.json()).traceparent
      })
      const { traceId, spanId } = span.spanContext()
      assert.equal(got, `00-${traceId}-${spanId}-01`)
    },
    'traces fetch': async (t) => {
      const at = await origin(t)
      let got
      const [span] = await traced(t, async () => {
        got = (await (await fetch(at)).json()).traceparent
      })
      assert.ok(got.includes(span.spanContext().spanId))
    },
    'traces stream, Client and Pool': async (t) => {
      const at = await origin(t)
      const { Writable } = await import('node:stream')
      const spans = await traced(t, async () => {
        await stream(
          at,
          { method: 'GET' },
          () => new Writable({ write: (_chunk, _encoding, done) => done() }),
        )
        for (const client of [new Client(at), new Pool(at)]) {
          await (await client.request({ path: '/', method: 'GET' })).body.dump()
          await client.close()
        }
      })
      assert.equal(spans.length, 3)
    },
    'traces HTTP/2': async (t) => {
      const at = await t.serveH2((incoming, response) =>
        sendJson(response, { got: incoming.headers.traceparent }),
      )
      const dispatcher = new Agent({ connect: { ca }, allowH2: true })
      t.after(() => dispatcher.close())
      let got
      const [span] = await traced(t, async () => {
        got = (await (await request(at, { dispatcher })).body.json()).got
      })
      assert.ok(got?.includes(span.spanContext().spanId))
      assert.equal(span.attributes['http.response.status_code'], 200)
    },
    'marks an error status': async (t) => {
      const at = await t.serve((_, response) => response.writeHead(500).end())
      const [span] = await traced(t, async () => (await request(at)).body.dump())
      assert.equal(span.status.code, SpanStatusCode.ERROR)
    },
    'records a lost connection': async (t) => {
      const at = await t.serveSockets((socket) => socket.once('data', () => socket.destroy()))
      const [span] = await traced(t, () => failure(request(at, { method: 'POST', body: 'x' })))
      assert.equal(span.status.code, SpanStatusCode.ERROR)
      assert.equal(span.events[0].name, 'exception')
    },
    'records a refused connection': async (t) => {
      const at = await t.nowhere()
      const [span] = await traced(t, () => failure(request(at)))
      assert.equal(span?.status.code, SpanStatusCode.ERROR)
    },
    'ends the span of an aborted request': async (t) => {
      const aborter = new AbortController()
      const at = await t.serve(() => aborter.abort())
      const [span] = await traced(t, () => failure(request(at, { signal: aborter.signal })))
      assert.equal(span?.attributes['url.path'], '/')
    },
    'calls the hooks': async (t) => {
      const at = await t.serve((incoming, response) => {
        response.setHeader('x-back', 'b').end(incoming.headers['x-hook'])
      })
      let body
      const options = {
        requestHook: (span, outgoing) => {
          span.setAttribute('method', outgoing.method)
          outgoing.addHeader('x-hook', 'yes')
        },
        responseHook: (span, { response }) => span.setAttribute('status', response.statusCode),
        headersToSpanAttributes: { requestHeaders: ['x-a'], responseHeaders: ['x-back'] },
      }
      const [span] = await traced(
        t,
        async () => {
          body = await (await request(at, { headers: { 'x-a': 'a' } })).body.text()
        },
        options,
      )
      assert.equal(body, 'yes')
      assert.deepEqual([span.attributes.method, span.attributes.status], ['GET', 200])
      assert.deepEqual(span.attributes['http.request.header.x-a'], ['a'])
      assert.deepEqual(span.attributes['http.response.header.x-back'], ['b'])
    },
    'ignores what it is told to ignore': async (t) => {
      const at = await origin(t)
      const options = { ignoreRequestHook: ({ path }) => path === '/health' }
      const work = async () => {
        for (const path of ['/health', '/work']) await (await request(at + path)).body.dump()
      }
      assert.deepEqual(
        (await traced(t, work, options)).map(({ attributes }) => attributes['url.path']),
        ['/work'],
      )
    },
    'keeps fifty at a time apart': async (t) => {
      const at = await t.serve((incoming, response) => response.end(incoming.headers.traceparent))
      const seen = []
      const spans = await traced(t, () =>
        Promise.all(Array.from({ length: 50 }, async () => seen.push(await (await request(at)).body.text()))),
      )
      assert.equal(new Set(seen).size, 50)
      assert.deepEqual(
        seen.map((value) => value.split('-')[2]).sort(),
        spans.map((each) => each.spanContext().spanId).sort(),
      )
    },
  },
}
