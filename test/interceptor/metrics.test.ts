import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import {
  Agent,
  type Client,
  errors,
  interceptors,
  type MeterLike,
  type MetricsOptions,
  Pool,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { deferred, failure } from '../support/exchange.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { Telemetry } from '../support/telemetry.ts'
import { http1Only, overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { steadyClock } from './retry-support.ts'

const GET = { path: '/', method: 'GET' } as const

function measured(client: Client, telemetry: Telemetry, more: Partial<MetricsOptions> = {}): Client {
  return client.compose(interceptors.metrics({ meter: telemetry.meter, ...more }))
}

overEachWire('interceptors.metrics', (wire) => {
  const version = wire.multiplexes ? '2' : '1.1'
  const GOT = { 'http.request.method': 'GET', 'network.protocol.version': version }
  const OK = { ...GOT, 'http.response.status_code': 200 }

  test('measures a request under the names of the conventions', async (t) => {
    const telemetry = new Telemetry()
    const asked = deferred()
    const origin = await startOrigin(t, wire, async (_, response) => {
      response.write('hel')
      await asked.promise
      response.end('lo')
    })
    const client = measured(origin.client(), telemetry)
    const began = performance.now()
    const { body } = await client.request({ path: '/secret?of=mine', method: 'GET' })
    assert.equal(await telemetry.active(), 1)
    asked.resolve()
    await body.text()
    const took = (performance.now() - began) / 1000
    const [point, ...others] = await telemetry.raw('http.client.request.duration')
    assert.deepEqual(others, [])
    assert.deepEqual(point?.attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'network.protocol.version': version,
      'server.address': 'localhost',
      'server.port': origin.port,
      'url.scheme': wire.secure ? 'https' : 'http',
    })
    assert.equal(point?.value, 1)
    assert.ok(point.sum > 0 && point.sum <= took, `${point.sum} s of ${took} s`)
    assert.equal(await telemetry.active(), 0)
    const instruments = await telemetry.instruments()
    assert.deepEqual(instruments.get('http.client.active_requests')?.unit, '{request}')
    assert.deepEqual(instruments.get('http.client.request.duration'), {
      unit: 's',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    })
    assert.deepEqual([...instruments.keys()].sort(), [
      'http.client.active_requests',
      'http.client.request.duration',
    ])
  })

  test('a status from 400 on is the type of an error', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (request, response) => {
      response.writeHead(Number(request.url!.slice(1)))
      response.end()
    })
    const client = measured(origin.client(), telemetry)
    for (const status of [204, 302, 404, 404, 503]) {
      await (await client.request({ path: `/${status}`, method: 'GET' })).body.dump()
    }
    assert.deepEqual(await telemetry.durations(), [
      [{ ...GOT, 'http.response.status_code': 204 }, 1],
      [{ ...GOT, 'http.response.status_code': 302 }, 1],
      [{ ...GOT, 'http.response.status_code': 404, 'error.type': '404' }, 2],
      [{ ...GOT, 'http.response.status_code': 503, 'error.type': '503' }, 1],
    ])
  })

  test('a lost connection has the code of its error', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (wire.multiplexes) (response as unknown as Http2ServerResponse).stream.session!.destroy()
      else request.socket.destroy()
    })
    await failure(measured(origin.client(), telemetry).request(GET))
    assert.deepEqual(await telemetry.durations(), [[{ ...GOT, 'error.type': 'UND_ERR_SOCKET' }, 1]])
    assert.equal(await telemetry.active(), 0)
  })

  test('a body that breaks off has the status and the error', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (_, response) => {
      response.write('x')
      if (wire.multiplexes) (response as unknown as Http2ServerResponse).stream.close(2)
      else setImmediate(() => response.destroy())
    })
    const { body } = await measured(origin.client(), telemetry).request(GET)
    const { code } = (await failure(body.text())) as NodeJS.ErrnoException
    const type = wire.multiplexes ? 'ERR_HTTP2_*' : 'UND_ERR_SOCKET'
    assert.ok(code!.startsWith(type.replace('*', '')), code)
    assert.deepEqual(await telemetry.durations(), [[{ ...OK, 'error.type': type }, 1]])
  })

  test('an abort and a timeout have names of their own', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, () => {})
    const client = measured(origin.client({ headersTimeout: 50 }), telemetry)
    const reasons = [undefined, new Error('mine'), new DOMException('late', 'TimeoutError')]
    for (const reason of reasons) {
      const controller = new AbortController()
      const request = client.request({ ...GET, signal: controller.signal })
      await once(origin.server, 'request')
      controller.abort(reason)
      await failure(request)
    }
    await failure(client.request(GET))
    assert.deepEqual(
      (await telemetry.durations()).map(([{ 'error.type': type }]) => type),
      ['AbortError', 'UND_ERR_ABORTED', 'TimeoutError', 'UND_ERR_HEADERS_TIMEOUT'],
    )
    assert.equal(await telemetry.active(), 0)
  })

  test('a request that is aborted while it waits in the queue was never sent', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, () => {})
    const client = measured(origin.client({ maxConcurrentStreams: 1 }), telemetry, { details: true })
    const first = client.request(GET)
    await once(origin.server, 'request')
    const controller = new AbortController()
    const second = client.request({ ...GET, signal: controller.signal })
    assert.equal(await telemetry.active(), 2)
    controller.abort()
    await failure(second)
    assert.deepEqual(await telemetry.durations(), [
      [{ 'http.request.method': 'GET', 'error.type': 'AbortError' }, 1],
    ])
    assert.deepEqual(await telemetry.points('ventuno.request.time_in_queue'), [])
    const lost = failure(first)
    await client.destroy()
    await lost
    assert.equal(await telemetry.active(), 0)
  })

  test('details: the sizes of bodies as they are transferred, and the time in the queue', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (request, response) => void request.pipe(response))
    const client = measured(origin.client(), telemetry, { details: true })
    const bodies = ['a string, ü', Buffer.alloc(70_000), Readable.from(['one', 'two']), null]
    for (const body of bodies) {
      const response = await client.request({ path: '/', method: 'PUT', body })
      await response.body.text()
    }
    const sizes = 12 + 70_000 + 6
    const put = { ...OK, 'http.request.method': 'PUT' }
    assert.deepEqual(await telemetry.points('http.client.request.body.size'), [
      { attributes: put, value: 3, sum: sizes },
    ])
    assert.deepEqual(await telemetry.points('http.client.response.body.size'), [
      { attributes: put, value: 4, sum: sizes },
    ])
    const [queued, ...others] = await telemetry.points('ventuno.request.time_in_queue')
    assert.deepEqual([queued!.attributes, queued!.value, others], [{ 'http.request.method': 'PUT' }, 4, []])
    const [duration] = await telemetry.points('http.client.request.duration')
    assert.ok(queued!.sum > 0 && queued!.sum < duration!.sum)
    const instruments = await telemetry.instruments()
    assert.equal(instruments.get('http.client.response.body.size')?.unit, 'By')
    assert.equal(instruments.get('ventuno.request.time_in_queue')?.unit, 's')
  })

  test('the caller gets the response as it would without: trailers, pieces, text', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (_, response) => {
      if (!wire.multiplexes) response.writeHead(200, { trailer: 'x-sum' })
      response.write('one')
      response.addTrailers({ 'x-sum': '7' })
      response.end('two')
    })
    const client = measured(origin.client(), telemetry)
    const response = await client.request(GET)
    assert.equal(await response.body.text(), 'onetwo')
    assert.deepEqual({ ...response.trailers }, { 'x-sum': '7' })
    assert.deepEqual(await telemetry.durations(), [[OK, 1]])
  })

  test('a tunnel is over when it is open', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, () => {})
    if (wire.multiplexes) {
      const server = origin.server as unknown as import('node:events').EventEmitter
      server.on('connect', (_request: Http2ServerRequest, response: Http2ServerResponse) => {
        response.writeHead(200)
        response.stream.resume()
      })
    } else {
      origin.server.on('connect', (_request, socket) => {
        socket.on('error', () => {})
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
      })
    }
    const { socket } = await measured(origin.client(), telemetry).connect({ path: 'target.test:80' })
    assert.deepEqual(await telemetry.durations(), [[{ ...OK, 'http.request.method': 'CONNECT' }, 1]])
    assert.equal(await telemetry.active(), 0)
    socket.destroy()
  })

  test('a handler that throws fails its own request, which is measured once', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (_, response) => response.end('x'))
    const client = measured(origin.client(), telemetry)
    const methods = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd'] as const
    for (const method of methods) {
      await new Promise<void>((resolve) => {
        const handler = {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd() {},
          onResponseError: () => resolve(),
          [method]() {
            throw Object.assign(new Error('of the caller'), { code: `MINE_${method}` })
          },
        }
        client.dispatch(GET, handler)
      })
    }
    const durations = await telemetry.durations()
    assert.equal(
      durations.reduce((sum, [, count]) => sum + count, 0),
      methods.length,
    )
    const types = new Set(durations.map(([attributes]) => attributes['error.type']))
    assert.deepEqual(types, new Set(['_OTHER', undefined]))
    assert.equal(await telemetry.active(), 0)
  })

  test('outside of retry it counts calls, inside of it attempts', async (t) => {
    const outside = new Telemetry()
    const inside = new Telemetry()
    let left = 2
    const origin = await startOrigin(t, wire, (_, response) => {
      if (left-- > 0) (response as ServerResponse).statusCode = 503
      response.end()
    })
    const client = origin
      .client()
      .compose(
        interceptors.metrics({ meter: inside.meter }),
        interceptors.retry({ minTimeout: 1 }),
        interceptors.metrics({ meter: outside.meter }),
      )
    await (await client.request(GET)).body.dump()
    const bad = { ...GOT, 'http.response.status_code': 503, 'error.type': '503' }
    assert.deepEqual(await outside.durations(), [[OK, 1]])
    assert.deepEqual(await inside.durations(), [
      [bad, 2],
      [OK, 1],
    ])
    const retries = [{ attributes: { 'http.request.method': 'GET', 'error.type': '503' }, value: 2, sum: 2 }]
    assert.deepEqual(await outside.points('ventuno.request.retries'), retries)
    assert.deepEqual(await inside.points('ventuno.request.retries'), [])
    assert.equal(await inside.active(), 0)
  })

  test('a final bad status that became an error is a status all the same', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeHead(429)
      response.end()
    })
    const client = origin
      .client()
      .compose(
        interceptors.retry({ maxRetries: 1, minTimeout: 1 }),
        interceptors.metrics({ meter: telemetry.meter }),
      )
    await failure(client.request(GET))
    assert.deepEqual(await telemetry.durations(), [
      [{ ...GOT, 'http.response.status_code': 429, 'error.type': '429' }, 1],
    ])
  })

  test('what a cache does', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (request, response) => {
      const name = request.url!.slice(1)
      if (request.headers['if-none-match'] !== undefined) {
        response.writeHead(304)
        response.end()
        return
      }
      const control = {
        hit: 'max-age=60',
        revalidated: 'no-cache',
        stale: 'max-age=0, stale-while-revalidate=60',
      }
      response.writeHead(200, {
        'cache-control': control[name as keyof typeof control] ?? 'no-store',
        etag: '"1"',
      })
      response.end('x')
    })
    const client = origin
      .client()
      .compose(interceptors.cache({ cacheByDefault: 0 }), interceptors.metrics({ meter: telemetry.meter }))
    for (const path of ['/hit', '/hit', '/hit', '/revalidated', '/revalidated', '/none', '/none']) {
      await (await client.request({ path, method: 'GET' })).body.dump()
    }
    const results = await telemetry.points('ventuno.cache.results')
    assert.deepEqual(
      results.map(({ attributes, value }) => [attributes['ventuno.cache.result'], value]),
      [
        ['miss', 4],
        ['hit', 2],
        ['revalidated', 1],
      ],
    )
    const durations = await telemetry.durations()
    assert.equal(
      durations.reduce((sum, [, count]) => sum + count, 0),
      7,
    )
    assert.equal(await telemetry.active(), 0)
  })

  test('redirects: one call outside, each hop inside', async (t) => {
    const outside = new Telemetry()
    const inside = new Telemetry()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' })
      response.end('here')
    })
    const client = origin
      .client()
      .compose(
        interceptors.metrics({ meter: inside.meter }),
        interceptors.redirect({ maxRedirections: 2 }),
        interceptors.metrics({ meter: outside.meter }),
      )
    assert.equal(await (await client.request(GET)).body.text(), 'here')
    assert.deepEqual(await outside.durations(), [[OK, 1]])
    assert.deepEqual(await inside.durations(), [
      [{ ...GOT, 'http.response.status_code': 302 }, 1],
      [OK, 1],
    ])
  })
})

overEachWire(
  'interceptors.metrics and upgrades',
  (wire) => {
    test('an upgrade is over with its 101', async (t) => {
      const telemetry = new Telemetry()
      const origin = await startOrigin(t, wire, () => {})
      origin.server.on('upgrade', (_request, socket) => {
        socket.on('error', () => {})
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      })
      const client = measured(origin.client(), telemetry)
      const { socket } = await client.upgrade({ path: '/', protocol: 'echo' })
      const [[attributes] = [], ...others] = await telemetry.durations()
      assert.equal(attributes?.['http.response.status_code'], 101)
      assert.deepEqual(others, [])
      assert.equal(await telemetry.active(), 0)
      socket.destroy()
    })
  },
  http1Only('HTTP/2 has no upgrade'),
)

describe('interceptors.metrics', () => {
  test('a connection that cannot be opened', async (t) => {
    const telemetry = new Telemetry()
    const port = await refusingPort(t)
    const agent = new Agent()
    t.after(() => agent.destroy())
    const composed = agent.compose(interceptors.metrics({ meter: telemetry.meter }))
    await failure(composed.request({ ...GET, origin: `http://127.0.0.1:${port}` }))
    const [point] = await telemetry.raw('http.client.request.duration')
    assert.deepEqual(point?.attributes, {
      'http.request.method': 'GET',
      'error.type': 'ECONNREFUSED',
      'server.address': '127.0.0.1',
      'server.port': port,
      'url.scheme': 'http',
    })
  })

  test('a wait that an abort ends is part of the duration', async (t) => {
    const telemetry = new Telemetry()
    const clock = steadyClock(t)
    const base = new ScriptedDispatcher((exchange) => {
      clock.jump(100)
      const timings = { end: performance.now() }
      const { handler, controller } = exchange
      Object.assign(controller, { timings })
      handler.onRequestStart?.(controller, null)
      handler.onResponseError?.(controller, Object.assign(new Error('lost'), { code: 'ECONNRESET' }))
    })
    const composed = base.compose(
      interceptors.retry({ minTimeout: 5000, jitter: 0 }),
      interceptors.metrics({ meter: telemetry.meter }),
    )
    const handler = new RecordingHandler()
    composed.dispatch({ ...GET, origin: 'http://a.test' }, handler)
    clock.jump(3000)
    handler.controllers[0]!.abort(new Error('enough'))
    const [point] = await telemetry.points('http.client.request.duration')
    assert.equal(point?.sum, 3.1)
  })

  test('one that shares a response is measured until its own consumer has all of it', async (t) => {
    const telemetry = new Telemetry()
    const clock = steadyClock(t)
    const base = new ScriptedDispatcher()
    const composed = base.compose(
      interceptors.deduplicate(),
      interceptors.metrics({ meter: telemetry.meter }),
    )
    const slow = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    for (const handler of [new RecordingHandler(), slow]) {
      composed.dispatch({ ...GET, origin: 'http://a.test' }, handler)
    }
    const { last } = base
    last.start().head().data('x')
    clock.jump(1000)
    Object.assign(last.controller, { timings: { end: performance.now() } })
    last.end()
    clock.jump(2000)
    slow.controllers[0]!.resume()
    await slow.settled
    const [point] = await telemetry.points('http.client.request.duration')
    assert.deepEqual([point?.value, point?.sum], [2, 1 + 3])
  })

  test('a circuit breaker: its transitions, and requests that it refuses', async (t) => {
    const telemetry = new Telemetry()
    steadyClock(t)
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(503).end())
    const breaker = interceptors.circuitBreaker({ minRequests: 2 })
    const composed = base.compose(breaker, interceptors.metrics({ meter: telemetry.meter }))
    const send = () => composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    send()
    send()
    send()
    const transitions = await telemetry.points('ventuno.circuit_breaker.transitions')
    assert.deepEqual(transitions, [
      {
        attributes: { 'http.request.method': 'GET', 'ventuno.circuit_breaker.state': 'open' },
        value: 1,
        sum: 1,
      },
    ])
    const types = (await telemetry.durations()).map(([attributes, count]) => [
      attributes['error.type'],
      count,
    ])
    assert.deepEqual(types, [
      ['503', 2],
      ['UND_ERR_CIRCUIT_OPEN', 1],
    ])
  })

  test('a circuit that closes again, and one that does not', async (t) => {
    const telemetry = new Telemetry()
    const clock = steadyClock(t)
    let status = 503
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(status).end())
    const breaker = interceptors.circuitBreaker({ minRequests: 1, halfOpenAfter: 10 })
    const composed = base.compose(breaker, interceptors.metrics({ meter: telemetry.meter }))
    const send = () => composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    send()
    await clock.advance(20)
    send()
    await clock.advance(20)
    status = 200
    send()
    const transitions = await telemetry.points('ventuno.circuit_breaker.transitions')
    assert.deepEqual(
      transitions.map(({ attributes, value }) => [attributes['ventuno.circuit_breaker.state'], value]),
      [
        ['open', 2],
        ['half-open', 2],
        ['closed', 1],
      ],
    )
  })

  test('a cache that serves what is stale, and requests that share a response', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher()
    const inside = new Telemetry()
    const composed = base.compose(
      interceptors.metrics({ meter: inside.meter }),
      interceptors.cache({ collapse: true }),
      interceptors.metrics({ meter: telemetry.meter }),
    )
    const send = (path: string): RecordingHandler => {
      const handler = new RecordingHandler()
      composed.dispatch({ origin: 'http://a.test', path, method: 'GET' }, handler)
      return handler
    }
    const headers = {
      'cache-control': 'max-age=0, stale-while-revalidate=60',
      etag: '"1"',
      date: new Date().toUTCString(),
    }
    const shared = [send('/'), send('/'), send('/')]
    base.last.start().head(200, headers).data('x').end()
    await turns(5)
    const stale = send('/')
    await turns(5)
    assert.deepEqual(
      [...shared, stale].map(({ story }) => story.at(-1)),
      Array.from({ length: 4 }, () => 'onResponseEnd'),
    )
    // The request that brings it up to date is nobody's, and no result.
    assert.equal(base.exchanges.length, 2)
    base.last.start().head(304).end()
    await turns(5)
    const results = await telemetry.points('ventuno.cache.results')
    assert.deepEqual(
      results.map(({ attributes, value }) => [attributes['ventuno.cache.result'], value]),
      [
        ['miss', 1],
        ['collapsed', 2],
        ['stale', 1],
      ],
    )
    const counts = (await telemetry.durations()).map(([, count]) => count)
    assert.deepEqual(counts, [4])
    assert.deepEqual(
      (await inside.durations()).map(([attributes, count]) => [
        attributes['http.response.status_code'],
        count,
      ]),
      [
        [200, 1],
        [304, 1],
      ],
    )
  })

  test('a stored response that is served because the origin fails is stale', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher()
    const composed = base.compose(interceptors.cache(), interceptors.metrics({ meter: telemetry.meter }))
    const send = () => composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    send()
    const headers = {
      'cache-control': 'max-age=0, stale-if-error=60',
      etag: '"1"',
      date: new Date().toUTCString(),
    }
    base.last.start().head(200, headers).data('x').end()
    await turns(5)
    send()
    base.last.start().head(503).end()
    await turns(5)
    const results = await telemetry.points('ventuno.cache.results')
    assert.deepEqual(
      results.map(({ attributes, value }) => [attributes['ventuno.cache.result'], value]),
      [
        ['miss', 1],
        ['stale', 1],
      ],
    )
    assert.deepEqual(await telemetry.durations(), [
      [{ 'http.request.method': 'GET', 'http.response.status_code': 200 }, 2],
    ])
  })

  test('addresses of IPv6, default ports, and requests without a known origin', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(200).end())
    const composed = base.compose(interceptors.metrics({ meter: telemetry.meter }))
    for (const origin of ['http://[::1]:81', 'https://A.test/', 'ftp://a.test', undefined]) {
      composed.dispatch({ ...GET, origin } as never, new RecordingHandler())
    }
    const points = await telemetry.raw('http.client.active_requests')
    assert.deepEqual(
      points.map(({ attributes: { 'http.request.method': _, ...server } }) => server),
      [
        { 'server.address': '::1', 'server.port': 81, 'url.scheme': 'http' },
        { 'server.address': 'a.test', 'server.port': 443, 'url.scheme': 'https' },
        {},
      ],
    )
  })

  test('families of codes', async () => {
    const telemetry = new Telemetry()
    const codes = ['HPE_STRICT', 'ERR_SSL_WRONG_VERSION_NUMBER', 'CERT_HAS_EXPIRED', 'UND_ERR_NEW', 'MINE', 7]
    const base = new ScriptedDispatcher(({ handler, opts }) => {
      const error = Object.assign(new Error('failed'), { code: codes[Number(opts.path.slice(1))] })
      handler.onResponseError?.(null, error)
    })
    const composed = base.compose(interceptors.metrics({ meter: telemetry.meter }))
    for (const path of codes.keys()) {
      composed.dispatch({ origin: 'http://a.test', path: `/${path}`, method: 'GET' }, new RecordingHandler())
    }
    assert.deepEqual(
      (await telemetry.durations()).map(([attributes, count]) => [attributes['error.type'], count]),
      [
        ['HPE_*', 1],
        ['ERR_SSL_*', 1],
        ['CERT_HAS_EXPIRED', 1],
        ['UND_ERR*', 1],
        ['_OTHER', 2],
      ],
    )
  })

  test('methods, servers and errors are of a closed set', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher((exchange) => {
      exchange.error(Object.assign(new Error('lost'), { code: `E${exchange.opts.path.slice(1)}` }))
    })
    const composed = base.compose(interceptors.metrics({ meter: telemetry.meter }))
    const SERVERS = 1010
    for (let i = 0; i < SERVERS; i++) {
      const opts = { origin: `http://h${i}.test`, path: `/${i}`, method: `M${i}` }
      composed.dispatch(opts as never, new RecordingHandler())
    }
    const points = await telemetry.raw('http.client.active_requests')
    assert.equal(points.length, 1001)
    const last = points.at(-1)
    assert.deepEqual(last?.attributes, {
      'http.request.method': '_OTHER',
      'server.address': '_OTHER',
      'url.scheme': 'http',
    })
    const durations = await telemetry.raw('http.client.request.duration')
    assert.equal(
      durations.reduce((sum, { value }) => sum + value, 0),
      SERVERS,
    )
    for (const { attributes } of durations) assert.equal(attributes['error.type'], '_OTHER')
  })

  test('attributes of the caller replace none of a request', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(200).end())
    const names = ['http.request.method', 'server.address', 'http.response.status_code']
    const attributes = Object.fromEntries(names.map((name) => [name, 'mine']))
    const composed = base.compose(interceptors.metrics({ meter: telemetry.meter, attributes }))
    composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    const [point] = await telemetry.raw('http.client.request.duration')
    assert.deepEqual(
      names.map((name) => point?.attributes[name]),
      ['GET', 'a.test', 200],
    )
  })

  test('attributes of the caller, and none of the server', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(200).end())
    const composed = base.compose(
      interceptors.metrics({ meter: telemetry.meter, attributes: { service: 'a' }, serverAddress: false }),
    )
    for (const host of ['a', 'b']) {
      composed.dispatch({ ...GET, origin: `http://${host}.test` }, new RecordingHandler())
    }
    const [point, ...others] = await telemetry.raw('http.client.request.duration')
    assert.deepEqual(others, [])
    assert.deepEqual(point, {
      attributes: { service: 'a', 'http.request.method': 'GET', 'http.response.status_code': 200 },
      value: 2,
      sum: point!.sum,
    })
  })

  test('interceptors with one meter add up', async () => {
    const telemetry = new Telemetry()
    const base = new ScriptedDispatcher()
    for (let i = 0; i < 3; i++) {
      base
        .compose(interceptors.metrics({ meter: telemetry.meter }))
        .dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    }
    assert.equal(await telemetry.active(), 3)
    base.last.start().head(200).end()
    assert.equal(await telemetry.active(), 2)
  })

  test('the attributes of requests that are alike are one object', () => {
    const seen: unknown[] = []
    const meter = meterThat((_value, attributes) => seen.push(attributes))
    const base = new ScriptedDispatcher((exchange) => exchange.start().head(200).end())
    const composed = base.compose(interceptors.metrics({ meter }))
    for (let i = 0; i < 3; i++) composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
    assert.equal(seen.length, 3)
    assert.equal(new Set(seen).size, 1)
  })

  for (const [what, measure] of [
    ['throws', () => assert.fail('of the meter')],
    ['rejects', () => Promise.reject(new Error('of the meter'))],
  ] as const) {
    test(`a meter that ${what} harms no request`, async (t) => {
      const base = new ScriptedDispatcher()
      const composed = base.compose(
        interceptors.retry({ minTimeout: 0 }),
        interceptors.metrics({ meter: meterThat(measure), details: true }),
      )
      const clock = FakeClock.install(t)
      const handler = new RecordingHandler()
      composed.dispatch({ ...GET, origin: 'http://a.test' }, handler)
      base.last.start().head(503).end()
      await clock.advance(10)
      base.last.start().head(200).data('x').end()
      await turns(5)
      assert.equal(handler.story.at(-1), 'onResponseEnd')
      assert.equal(base.exchanges.length, 2)
    })
  }

  test('a dispatcher that throws ends the request', async () => {
    const telemetry = new Telemetry()
    const composed = new ScriptedDispatcher(() => {
      throw new Error('no')
    }).compose(interceptors.metrics({ meter: telemetry.meter }))
    assert.throws(() => composed.dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler()))
    assert.equal(await telemetry.active(), 0)
    assert.deepEqual(await telemetry.durations(), [
      [{ 'http.request.method': 'GET', 'error.type': '_OTHER' }, 1],
    ])
  })

  test('what is no meter is refused at the call', () => {
    const { InvalidArgumentError } = errors
    const refused = (options: unknown, message: RegExp) =>
      assert.throws(
        () => interceptors.metrics(options as MetricsOptions),
        (error: Error) => error instanceof InvalidArgumentError && message.test(error.message),
      )
    refused(undefined, /options must be an object/)
    refused({}, /meter must be an object/)
    refused({ meter: 'x' }, /meter must be an object/)
    for (const method of ['createHistogram', 'createCounter', 'createObservableUpDownCounter']) {
      const meter = { ...meterThat(() => {}), [method]: undefined }
      refused({ meter }, new RegExp(`meter must have the method ${method}`))
      const other = { ...meterThat(() => {}), [method]: () => null }
      refused({ meter: other }, /instrument [a-z_.]+ must have the method (record|add|addCallback)/)
    }
    const meter = meterThat(() => {})
    refused({ meter, attributes: { a: {} } }, /invalid attributes/)
    refused({ meter, details: 'x' }, /invalid details/)
    refused({ meter, serverAddress: 'x' }, /invalid serverAddress/)
  })

  test('a promise of a meter that rejects is not left to the process', async () => {
    const reject = () => Promise.reject(new Error('of the meter')) as never
    for (const method of ['createHistogram', 'createCounter', 'createObservableUpDownCounter']) {
      const meter = { ...meterThat(() => {}), [method]: reject }
      assert.throws(() => interceptors.metrics({ meter }), errors.InvalidArgumentError)
    }
    interceptors.metrics({
      meter: {
        ...meterThat(() => {}),
        createObservableUpDownCounter: () => ({ addCallback: reject }),
      },
    })
    // A rejection that nobody handles fails the file.
    await turns(2)
  })

  test('a pool of HTTP/2 and HTTP/1.1', async (t) => {
    const telemetry = new Telemetry()
    const wire = { name: 'h2c', secure: false, multiplexes: true } as const
    const origin = await startOrigin(t, wire, (_, response) => response.end())
    const pool = new Pool(origin.url, { ...wireOptions(wire), connections: 2 })
    t.after(() => pool.destroy())
    const composed = pool.compose(interceptors.metrics({ meter: telemetry.meter }))
    await Promise.all(Array.from({ length: 20 }, async () => (await composed.request(GET)).body.dump()))
    assert.deepEqual(await telemetry.durations(), [
      [
        { 'http.request.method': 'GET', 'http.response.status_code': 200, 'network.protocol.version': '2' },
        20,
      ],
    ])
  })
})

function meterThat(measure: (value: number, attributes: unknown) => unknown): MeterLike {
  const record = measure as never
  return {
    createHistogram: () => ({ record }),
    createCounter: () => ({ add: record }),
    createObservableUpDownCounter: () => ({ addCallback: () => {} }),
  }
}
