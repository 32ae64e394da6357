import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { errors, fetch, interceptors, type ResponseErrorOptions } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { deferred, failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

async function setting(t: TestContext, wire: Wire, listener: Listener, options?: ResponseErrorOptions) {
  const origin = await startOrigin(t, wire, listener)
  const agent = composedAgent(t, wire, interceptors.responseError(options))
  return { origin, agent, opts: { origin: origin.url, path: '/path?secret', method: 'GET' } }
}

overTwoWires('interceptors.responseError', (wire) => {
  test('a status of 400 or above fails with status, headers and body', async (t) => {
    const { agent, origin, opts } = await setting(t, wire, (request, response) => {
      response.writeHead(Number(request.headers['x-status']), { 'content-type': 'application/json', a: 'b' })
      response.end('{"why":"not"}')
    })
    for (const status of [400, 404, 500, 599]) {
      const error = await failure(agent.request({ ...opts, headers: { 'x-status': status } }))
      assert.ok(error instanceof errors.ResponseError)
      assert.deepEqual(
        [error.name, error.code, error.message],
        ['ResponseError', 'UND_ERR_RESPONSE', 'Response Error'],
      )
      assert.deepEqual([error.statusCode, error['status'], error.bodyTruncated], [status, status, false])
      assert.deepEqual(error.body, { why: 'not' })
      assert.equal((error.headers as Record<string, string>)['a'], 'b')
      assert.deepEqual([error.method, error.origin, error.path], ['GET', origin.url, '/path'])
      assert.equal(error.retrySafety, 'idempotent-only')
      assert.match(
        error.stack!,
        new RegExp(`^ResponseError: Response Error \\(GET ${origin.url}/path answered ${status}\\)\n +at `),
      )
    }
    const { statusCode, body } = await agent.request({ ...opts, headers: { 'x-status': 399 } })
    assert.equal(statusCode, 399)
    assert.equal(await body.text(), '{"why":"not"}')
  })

  test('HEAD has no body', async (t) => {
    const { agent, opts } = await setting(t, wire, (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain', 'content-length': 5 }).end()
    })
    assert.equal((await failure(agent.request({ ...opts, method: 'HEAD' })))['body'], '')
  })

  test('maxSize: the body is truncated; 0 is no limit', async (t) => {
    const listener: Listener = (_request, response) => {
      response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify('x'.repeat(2_000_000)))
    }
    const short = await setting(t, wire, listener, { maxSize: 5 })
    const error = await failure(short.agent.request(short.opts))
    assert.deepEqual([error['body'], error['bodyTruncated']], ['"xxxx', true])
    const usual = await setting(t, wire, listener)
    const truncated = await failure(usual.agent.request(usual.opts))
    assert.deepEqual([(truncated['body'] as string).length, truncated['bodyTruncated']], [1_048_576, true])
    const free = await setting(t, wire, listener, { maxSize: 0 })
    const whole = await failure(free.agent.request(free.opts))
    assert.deepEqual([(whole['body'] as string).length, whole['bodyTruncated']], [2_000_000, false])
  })

  test('an endless body is given up', async (t) => {
    const closed = deferred()
    const { agent, opts } = await setting(
      t,
      wire,
      (_request, response) => {
        response.writeHead(503, { 'content-type': 'text/plain' })
        const write = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
        }
        response.on('error', () => {})
        response.on('close', closed.resolve)
        response.on('drain', write)
        write()
      },
      { maxSize: 10 },
    )
    const error = await failure(agent.request(opts))
    assert.deepEqual([error['statusCode'], error['body']], [503, 'x'.repeat(10)])
    await closed.promise
  })

  test('stream() and fetch', async (t) => {
    const { agent, opts, origin } = await setting(t, wire, (_request, response) =>
      response.writeHead(418).end(),
    )
    const streamed = await failure(agent.stream(opts, () => new Writable()))
    assert.equal(streamed['statusCode'], 418)
    const fetched = await failure(fetch(origin.url, { dispatcher: agent }))
    assert.equal((fetched.cause as errors.ResponseError).statusCode, 418)
  })

  test('an abort while the body is collected', async (t) => {
    const asked = deferred()
    const { agent, opts } = await setting(t, wire, (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.write('begin', () => asked.resolve())
    })
    const abort = new AbortController()
    const error = failure(agent.request({ ...opts, signal: abort.signal }))
    await asked.promise
    const reason = new Error('enough')
    abort.abort(reason)
    assert.equal(await error, reason)
  })
})

describe('interceptors.responseError: bodies', () => {
  function bodyOf(type: string | undefined, bytes: Buffer | string): unknown {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError()).dispatch(GET, handler)
    base.last.start().head(400, type === undefined ? {} : { 'content-type': type })
    for (const byte of Buffer.from(bytes)) base.last.data(Buffer.from([byte]))
    base.last.end()
    return (handler.error as errors.ResponseError).body
  }

  test('by content-type', () => {
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/problem+json']) {
      assert.deepEqual(bodyOf(type, '{"a":1}'), { a: 1 }, type)
      assert.equal(bodyOf(type, 'null'), null, type)
      assert.equal(bodyOf(type, '{"a":'), '{"a":', type)
    }
    for (const type of ['text/plain', 'TEXT/HTML', 'text/plain;charset=unknown-one']) {
      assert.equal(bodyOf(type, 'é'), 'é', type)
    }
    assert.equal(bodyOf('text/plain; Charset="ISO-8859-1"', Buffer.from([0xe9])), 'é')
    assert.deepEqual(bodyOf('application/octet-stream', 'ab'), Buffer.from('ab'))
    assert.deepEqual(bodyOf(undefined, 'ab'), Buffer.from('ab'))
    for (const type of ['application/json', 'image/png', undefined]) assert.equal(bodyOf(type, ''), '')
  })

  test('truncated JSON is text, even if it can be parsed', () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError({ maxSize: 3 })).dispatch(GET, handler)
    base.last.start().head(400, { 'content-type': 'application/json' }).data('12345').end()
    assert.equal((handler.error as errors.ResponseError).body, '123')
  })

  test('an origin that is not one does not replace the error', () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError()).dispatch({ ...GET, origin: 'none' }, handler)
    base.last.start().head(404).end()
    assert.ok(handler.error instanceof errors.ResponseError)
    assert.equal(handler.error.origin, '')
  })

  test('a failure while the body is collected is passed on', () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError()).dispatch(GET, handler)
    const lost = new Error('lost')
    base.last.start().head(400).data('x').error(lost).end()
    assert.deepEqual(handler.errors, [lost])
    assert.deepEqual(handler.statuses, [])
  })

  test('informational heads, hooks and other statuses pass', () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError()).dispatch(GET, handler)
    base.last.start().head(103).head(200).data('x').end({ t: '1' })
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onResponseStart 103',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual(handler.trailers, { t: '1' })
  })

  test('wrong options; throwOnError is ignored', () => {
    for (const maxSize of [-1, 1.5, 'one', Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => interceptors.responseError({ maxSize: maxSize as number }), {
        name: 'InvalidArgumentError',
        message: 'maxSize must be a non-negative integer',
      })
    }
    assert.throws(() => interceptors.responseError(1 as never), { message: 'options must be an object' })
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.responseError({ throwOnError: false })).dispatch(GET, handler)
    base.last.start().head(400).end()
    assert.equal(handler.error?.name, 'ResponseError')
  })
})
