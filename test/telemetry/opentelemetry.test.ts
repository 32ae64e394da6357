/**
 * A real consumer of the diagnostics channels: the unchanged OpenTelemetry instrumentation for undici. It finds requests
 * only by the names of the channels.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import { after, beforeEach, describe, it } from 'node:test'
import { context, propagation, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { Client, H2CClient } from '../../src/index.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'

const WIRES: readonly Wire[] = [
  { name: 'h1', secure: false, multiplexes: false },
  { name: 'h1+tls', secure: true, multiplexes: false },
  { name: 'h2+tls', secure: true, multiplexes: true },
  { name: 'h2c', secure: false, multiplexes: true },
]

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = provider.getTracer('test')
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
const instrumentation = new UndiciInstrumentation({
  headersToSpanAttributes: { requestHeaders: ['X-Ask'], responseHeaders: ['X-Answer'] },
})
instrumentation.setTracerProvider(provider)

after(async () => {
  instrumentation.disable()
  context.disable()
  propagation.disable()
  await provider.shutdown()
})

beforeEach(() => exporter.reset())

function onlySpan(): ReadableSpan {
  const spans = exporter.getFinishedSpans()
  assert.equal(spans.length, 1)
  return spans[0]!
}

function traceparent(span: ReadableSpan | Span): string {
  const { traceId, spanId } = span.spanContext()
  return `00-${traceId}-${spanId}-01`
}

for (const wire of WIRES) {
  describe(`OpenTelemetry over ${wire.name}`, () => {
    it('makes a span of a request', async (t) => {
      const origin = await startOrigin(t, wire, (_, response) => {
        response.writeHead(201, { 'x-answer': ['a', 'b'] })
        response.end('made')
      })
      const { statusCode, body } = await origin.client().request({
        path: '/things?of=any',
        method: 'POST',
        headers: { 'X-Ask': 'q', 'user-agent': 'test/1' },
        body: 'x',
      })
      assert.equal(statusCode, 201)
      assert.equal(await body.text(), 'made')

      const span = onlySpan()
      assert.equal(span.name, 'POST')
      assert.equal(span.kind, SpanKind.CLIENT)
      assert.equal(span.status.code, SpanStatusCode.UNSET)
      assert.equal(span.parentSpanContext, undefined)
      const { 'network.protocol.version': version, ...attributes } = span.attributes
      assert.deepEqual(attributes, {
        'http.request.method': 'POST',
        'http.request.method_original': 'POST',
        'url.full': `${origin.url}/things?of=any`,
        'url.path': '/things',
        'url.query': '?of=any',
        'url.scheme': wire.secure ? 'https' : 'http',
        'server.address': 'localhost',
        'server.port': origin.port,
        'user_agent.original': 'test/1',
        'network.peer.address': '127.0.0.1',
        'network.peer.port': origin.port,
        'http.request.header.x-ask': ['q'],
        'http.response.header.x-answer': ['a', 'b'],
        'http.response.status_code': 201,
      })
      // The instrumentation relies on ALPN, so it reports cleartext HTTP/2 as HTTP/1.1.
      if (wire.name !== 'h2c') assert.equal(version, wire.multiplexes ? '2' : '1.1')
    })

    it('carries the trace to the server', async (t) => {
      const seen: unknown[] = []
      const remember: Listener = (request, response) => {
        seen.push(request.headers['traceparent'])
        response.end()
      }
      const origin = await startOrigin(t, wire, remember)
      const client = origin.client()
      for (const path of ['/first', '/second']) {
        const { body } = await client.request({ path, method: 'GET' })
        await body.dump()
      }
      const spans = exporter.getFinishedSpans()
      assert.equal(spans.length, 2)
      assert.deepEqual(seen, spans.map(traceparent))
      assert.notEqual(spans[0]!.spanContext().traceId, spans[1]!.spanContext().traceId)
    })

    it("keeps each request under its caller's span", async (t) => {
      const seen: Record<string, unknown> = {}
      const origin = await startOrigin(t, wire, (request, response) => {
        seen[request.url!] = request.headers['traceparent']
        response.end()
      })
      const client = origin.client()
      const paths = ['/a', '/b', '/c']
      const parents = await Promise.all(
        paths.map((path) =>
          tracer.startActiveSpan(path, async (parent) => {
            await Promise.resolve()
            const { body } = await client.request({ path, method: 'GET' })
            await body.dump()
            parent.end()
            return parent
          }),
        ),
      )
      const spans = exporter.getFinishedSpans()
      for (const [index, path] of paths.entries()) {
        const parent = parents[index]!.spanContext()
        const span = spans.find(({ attributes }) => attributes['url.path'] === path)!
        assert.equal(span.parentSpanContext?.spanId, parent.spanId)
        assert.equal(span.spanContext().traceId, parent.traceId)
        assert.equal(seen[path], traceparent(span))
      }
    })

    it('marks an answer of the server as an error', async (t) => {
      const origin = await startOrigin(t, wire, (_, response) => {
        response.writeHead(503)
        response.end()
      })
      const { body } = await origin.client().request({ path: '/', method: 'GET' })
      await body.dump()
      const { attributes, status } = onlySpan()
      assert.equal(attributes['http.response.status_code'], 503)
      assert.equal(attributes['error.type'], '503')
      assert.equal(status.code, SpanStatusCode.ERROR)
    })

    it('ends the span of a lost request with its error', async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (wire.multiplexes) (response as unknown as Http2ServerResponse).stream.session!.destroy()
        else request.socket.destroy()
      })
      const failure = await origin
        .client()
        .request({ path: '/', method: 'GET' })
        .then(
          () => assert.fail('the request was to fail'),
          (error: NodeJS.ErrnoException) => error,
        )
      const { attributes, status, events } = onlySpan()
      assert.equal(attributes['error.type'], 'UND_ERR_SOCKET')
      assert.equal(attributes['error.type'], failure.code)
      assert.deepEqual(status, { code: SpanStatusCode.ERROR, message: failure.message })
      assert.equal(events[0]!.attributes!['exception.message'], failure.message)
    })

    it('takes an abort for no error', async (t) => {
      const origin = await startOrigin(t, wire, () => {})
      const controller = new AbortController()
      const request = origin.client().request({ path: '/', method: 'GET', signal: controller.signal })
      await once(origin.server, 'request')
      controller.abort()
      await assert.rejects(request, { name: 'AbortError' })
      const { attributes, status } = onlySpan()
      assert.equal(status.code, SpanStatusCode.UNSET)
      assert.equal(attributes['error.type'], undefined)
    })
  })
}

describe('OpenTelemetry without a server', () => {
  for (const type of [Client, H2CClient]) {
    it(`ends the span of a request of ${type.name} with why it could not connect`, async (t) => {
      const port = await refusingPort(t)
      const client = new type(`http://127.0.0.1:${port}`)
      await assert.rejects(client.request({ path: '/', method: 'GET' }), { code: 'ECONNREFUSED' })
      await client.destroy()
      const { attributes, status } = onlySpan()
      assert.equal(attributes['error.type'], 'ECONNREFUSED')
      assert.equal(attributes['server.port'], port)
      assert.equal(status.code, SpanStatusCode.ERROR)
    })
  }
})
