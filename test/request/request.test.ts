import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InternalError } from '../../src/base/error/invariant.ts'
import { type InformationalError, RequestAbortedError, SocketError } from '../../src/errors.ts'
import type { DispatchHandler } from '../../src/index.ts'
import { HeaderBlock } from '../../src/protocol/header-block.ts'
import type { ConnectionFacts } from '../../src/request/connection-facts.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { callersReason, type EndReason, endReason } from '../../src/request/end-reason.ts'
import { Request, type RequestHost } from '../../src/request/request.ts'
import { FieldsMemory } from '../../src/request/request-fields.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

class Host implements RequestHost {
  readonly aborted: EndReason[] = []
  readonly thrown: unknown[] = []
  resumed = 0

  onRequestAborted(_request: Request, reason: EndReason): void {
    this.aborted.push(reason)
  }

  onRequestResumed(): void {
    this.resumed++
  }

  onHandlerError(error: unknown): void {
    this.thrown.push(error)
  }
}

const SETTING = {
  origin: 'http://a.test',
  protocol: 'http:',
  fields: new FieldsMemory(),
  maxResponseSize: -1,
} as const
const FACTS: ConnectionFacts = {
  httpVersion: '1.1',
  reused: false,
  times: { connect: null, secured: null },
  socketInfo: () => ({ remotePort: 80 }),
}
const EMPTY = HeaderBlock.EMPTY

function queued(
  options: Partial<DispatchOptions> = {},
  handler: DispatchHandler = new RecordingHandler(),
  host = new Host(),
): Request {
  const request = new Request({ path: '/', method: 'GET', ...options }, handler, SETTING, host)
  request.announceQueued()
  return request
}

function running(
  options: Partial<DispatchOptions> = {},
  handler: DispatchHandler = new RecordingHandler(),
  host = new Host(),
): Request {
  const request = queued(options, handler, host)
  assert.equal(request.start(), true)
  request.attach(host, FACTS)
  return request
}

/** Ends with the test. */
function listen(t: TestContext, channel: string, listener: (message: { request: Request }) => void): void {
  const onMessage = listener as (message: unknown) => void
  subscribe(channel, onMessage)
  t.after(() => unsubscribe(channel, onMessage))
}

describe('a Request', () => {
  test('tells instrumentations what they read', () => {
    const request = queued({
      path: '/p',
      method: 'POST',
      query: { a: 1 },
      headers: { Host: 'b.test:81', 'X-A': '1', 'content-length': '2' },
      body: 'ab',
    })
    assert.equal(request.origin, 'http://a.test')
    assert.equal(request.protocol, 'http:')
    assert.equal(request.path, '/p?a=1')
    assert.equal(request.method, 'POST')
    assert.equal(request.host, 'b.test:81')
    assert.equal(request.servername, 'b.test')
    assert.equal(request.contentLength, 2)
    assert.deepEqual(request.headers, ['X-A', '1'])
    assert.deepEqual(request.body, Buffer.from('ab'))
    assert.equal(request.idempotent, false)
    assert.equal(request.blocking, true)
    assert.equal(request.aborted, false)
    assert.equal(request.completed, false)
    assert.equal(queued({ body: '' }).body, null)
    const stream = new PassThrough()
    assert.equal(queued({ body: stream }).body, stream)
  })

  test('goes through its life once', () => {
    const handler = new RecordingHandler()
    const host = new Host()
    const request = running({}, handler, host)
    request.onWritten()
    request.onRequestSent()
    request.onResponseStarted()
    request.onInformational(103, EMPTY, '')
    assert.equal(request.responding, false)
    request.onHead(200, new HeaderBlock(['A', 'b']), 'OK')
    assert.equal(request.responding, true)
    request.onData(Buffer.from('x'), 0, 1)
    request.onEnd(EMPTY)
    assert.equal(request.completed, true)
    assert.equal(request.settled, true)
    request.abort(new Error('late'))
    request.fail(endReason('lost', new Error('late')))
    request.fail(callersReason('lost', new Error('late')))
    request.onResume()
    assert.equal(handler.error, undefined)
    assert.deepEqual(host.aborted, [])
    assert.equal(host.resumed, 0)
    assert.throws(() => request.start(), InternalError)
    assert.throws(() => request.requeue(host), InternalError)
  })

  test('fails once, whoever is first', () => {
    const handler = new RecordingHandler()
    const request = running({}, handler)
    request.fail(endReason('lost', new SocketError('first', null)))
    request.fail(endReason('lost', new Error('second')))
    request.fail(callersReason('lost', new Error('third')))
    request.abort(new Error('fourth'))
    assert.equal(handler.calls.filter((call) => call === 'onResponseError').length, 1)
    assert.match(String(handler.error?.message), /^first/)
  })

  test('an abort tells whoever holds it', () => {
    const host = new Host()
    const request = queued({}, new RecordingHandler(), host)
    request.abort(new Error('mine'))
    assert.equal(host.aborted.length, 1)
    assert.equal((host.aborted[0]!.error as InformationalError).code, 'UND_ERR_INFO')
    assert.equal(request.aborted, true)

    // Between the queue and a connection, no notification is needed.
    const between = new Host()
    const started = queued({}, new RecordingHandler({ onRequestStart: (c) => c.abort() }), between)
    assert.equal(started.start(), false)
    assert.equal(between.aborted.length, 0)
  })

  test('can be given up while it waits, through onRequestQueued', () => {
    let abort: ((reason?: unknown) => void) | undefined
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued(give: (reason?: unknown) => void) {
        abort = give
      },
    })
    const host = new Host()
    const request = queued({}, handler, host)
    abort?.()
    assert.equal(request.settled, true)
    assert.equal(handler.error instanceof RequestAbortedError, true)
    assert.equal(handler.lastController, undefined)
    assert.equal(host.aborted.length, 1)

    const own = new Error('thrown')
    const throwing = Object.assign(new RecordingHandler(), {
      onRequestQueued() {
        throw own
      },
    })
    queued({}, throwing)
    assert.equal(throwing.error, own)
  })

  test('goes back to the queue only when nothing was delivered or spent', () => {
    const host = new Host()
    const replayable = running({ body: 'x', method: 'POST' })
    assert.equal(replayable.resendable, true)
    replayable.requeue(host)
    assert.equal(replayable.start(), true)

    const spent = running({ body: ['x'], method: 'POST' })
    spent.onBodyRead()
    assert.equal(spent.resendable, false)
    assert.throws(() => spent.requeue(host), InternalError)

    const answered = running()
    answered.onHead(200, EMPTY, '')
    assert.equal(answered.resendable, false)
  })

  test('each attempt has a controller of its own', () => {
    const handler = new RecordingHandler()
    const request = running({}, handler)
    request.requeue(new Host())
    request.start()
    assert.equal(handler.controllers.length, 2)
    assert.notEqual(handler.controllers[0], handler.controllers[1])
  })

  test('what onResponseError throws goes to the host', () => {
    const own = new Error('in onResponseError')
    const host = new Host()
    const handler = new RecordingHandler({
      onResponseError() {
        throw own
      },
    })
    running({}, handler, host).abort()
    assert.deepEqual(host.thrown, [own])
  })

  test('the error of a stream body aborts it', () => {
    const body = new Readable({ read() {} })
    const handler = new RecordingHandler()
    const host = new Host()
    running({ method: 'POST', body }, handler, host)
    const own = new Error('broken')
    body.emit('error', own)
    assert.equal(handler.error, own)
    assert.equal(host.aborted.length, 1)
  })

  test('a body that is only an emitter is taken', () => {
    const emitter = Object.assign(new EventEmitter(), { pipe() {} })
    const request = running({ method: 'POST', body: emitter as unknown as Readable })
    request.abort()
    assert.equal(request.settled, true)
  })

  test('what a subscriber puts into it is checked again before it is sent', (t) => {
    listen(t, 'undici:request:create', ({ request }) => {
      if (request.origin !== SETTING.origin) return
      request.addHeader('traceparent', '00-1')
      assert.throws(() => request.addHeader('a b', 'x'), { message: 'invalid header key' })
      assert.throws(() => request.addHeader('a', 'x\r\n'), { message: 'invalid a header' })
    })
    const request = queued({ headers: { a: 'b' } })
    assert.deepEqual(request.wireFields()?.flat, ['a', 'b', 'traceparent', '00-1'])
    request.headers.push('evil', 'a\r\nb: c')
    assert.equal(request.wireFields(), null)
    request.headers.length = 3
    assert.equal(request.wireFields(), null)
  })

  test('what a subscriber puts into it is not sent with the next one', () => {
    const first = queued({ headers: { a: 'b' } })
    first.headers.push('c', 'd')
    assert.deepEqual(first.wireFields()?.flat, ['a', 'b', 'c', 'd'])
    assert.deepEqual(queued({ headers: { a: 'b' } }).wireFields()?.flat, ['a', 'b'])
  })

  test('without a subscriber the checked list is sent', () => {
    assert.deepEqual(queued({ headers: { a: 'b' } }).wireFields()?.flat, ['a', 'b'])
  })

  test('whoever holds it after its end holds nothing of the exchange', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const held: Request[] = []
    const gone: WeakRef<object>[] = []
    const settle = (end: (request: Request) => void): void => {
      const host = new Host()
      const request = running({}, undefined, host)
      held.push(request)
      end(request)
      gone.push(new WeakRef(host))
    }
    settle((request) => {
      request.onHead(200, EMPTY, 'OK')
      request.onEnd(EMPTY)
    })
    settle((request) => request.fail(endReason('lost', new SocketError('closed'))))
    settle((request) => request.abort())
    // A reference lives until the end of the turn in which it was created.
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    assert.deepEqual(
      gone.map((reference) => reference.deref()),
      held.map(() => undefined),
    )
  })

  test('phase and retry safety of a failure', () => {
    const failureOf = (request: Request, handler: RecordingHandler) => {
      request.fail(endReason('lost', new SocketError('x', null)))
      const { phase, retrySafety, socket } = handler.error as SocketError
      return [phase, retrySafety, socket?.remotePort]
    }
    let handler = new RecordingHandler()
    assert.deepEqual(failureOf(queued({}, handler), handler), ['queued', 'safe', undefined])

    handler = new RecordingHandler()
    assert.deepEqual(failureOf(running({}, handler), handler), ['sending', 'safe', 80])

    handler = new RecordingHandler()
    const sent = running({}, handler)
    sent.onWritten()
    sent.onRequestSent()
    assert.deepEqual(failureOf(sent, handler), ['headers', 'idempotent-only', 80])

    handler = new RecordingHandler()
    const responding = running({}, handler)
    responding.onWritten()
    responding.onRequestSent()
    responding.onHead(200, EMPTY, '')
    assert.deepEqual(failureOf(responding, handler), ['body', 'idempotent-only', 80])

    handler = new RecordingHandler()
    const spent = running({ method: 'POST', body: ['x'] }, handler)
    spent.onBodyRead()
    assert.deepEqual(failureOf(spent, handler), ['sending', 'no', 80])

    // Written once, on a connection that was lost: the server may or may not have processed it.
    handler = new RecordingHandler()
    const again = running({}, handler)
    again.onWritten()
    again.requeue(new Host())
    assert.deepEqual(failureOf(again, handler), ['queued', 'idempotent-only', undefined])
  })
})
