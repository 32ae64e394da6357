import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { Attempt, type AttemptOwner } from '../../src/relay/attempt.ts'
import type { DispatchController } from '../../src/request/dispatch-handler.ts'
import { Exchange } from '../api/scripted-dispatcher.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const
const REASON = new Error('enough')

class RecordingOwner implements AttemptOwner {
  readonly reports: string[] = []
  readonly errors: Error[] = []

  onStarted(): void {
    this.reports.push('started')
  }

  onHead(_attempt: Attempt, { statusCode }: { statusCode: number }): void {
    this.reports.push(`head ${statusCode}`)
  }

  onData(): void {
    this.reports.push('data')
  }

  onEnd(): void {
    this.reports.push('end')
  }

  onUpgrade(): void {
    this.reports.push('upgrade')
  }

  onFailed(_attempt: Attempt, error: Error): void {
    this.reports.push('failed')
    this.errors.push(error)
  }
}

function sent(isQueueable = true) {
  const owner = new RecordingOwner()
  const attempt = new Attempt(owner, null, isQueueable)
  let exchange: Exchange | null = null
  attempt.send((opts, handler) => {
    exchange = new Exchange(opts, handler)
    return true
  }, GET)
  return { owner, attempt, exchange: exchange as unknown as Exchange }
}

describe('an attempt', () => {
  it('reports nothing after its end, its upgrade, its failure or its abort', () => {
    const ends: ((exchange: Exchange, attempt: Attempt) => unknown)[] = [
      (exchange) => exchange.end(),
      (exchange) => exchange.upgrade(101, {}, new PassThrough()),
      (exchange) => exchange.error(REASON),
      (_exchange, attempt) => attempt.abort(REASON),
    ]
    for (const end of ends) {
      const { owner, attempt, exchange } = sent()
      exchange.start().head(200).data('x')
      end(exchange, attempt)
      const { length } = owner.reports
      assert.equal(attempt.isOver, true)
      const socket = new PassThrough()
      exchange.start().head(200).data('late').end().error(new Error('late')).upgrade(101, {}, socket)
      attempt.abort(new Error('late'))
      assert.equal(socket.destroyed, true)
      assert.equal(owner.reports.length, length, owner.reports.join())
    }
  })

  it('an abort reaches it once, wherever it is, and its owner hears of it within the call', () => {
    const unqueued = sent(false)
    unqueued.attempt.abort(REASON)
    unqueued.attempt.abort(new Error('again'))
    assert.deepEqual(unqueued.owner.errors, [REASON])
    unqueued.exchange.start()
    assert.deepEqual(unqueued.exchange.aborts, [REASON])

    const queued = sent()
    const aborts: unknown[] = []
    queued.exchange.handler.onRequestQueued?.((reason) => void aborts.push(reason))
    queued.attempt.abort(REASON)
    queued.attempt.abort(new Error('again'))
    assert.deepEqual([aborts, queued.owner.errors], [[REASON], [REASON]])

    const started = sent()
    started.exchange.start()
    started.attempt.abort(REASON)
    started.attempt.abort(new Error('again'))
    assert.deepEqual([started.exchange.aborts, started.owner.errors], [[REASON], [REASON]])
  })

  it('without a reason, its owner gets the error of the dispatcher, if that reports one', () => {
    const described = new Error('described')
    const own = sent()
    own.exchange.start().onAbort = () => own.exchange.error(described)
    own.attempt.abort()
    assert.deepEqual(own.owner.errors, [described])
    const foreign = sent()
    foreign.exchange.start()
    foreign.attempt.abort()
    assert.equal(foreign.owner.errors[0]?.name, 'AbortError')
  })

  it('that ends without a head has failed', () => {
    const { owner, exchange } = sent()
    exchange.start().head(103).end()
    assert.deepEqual(owner.reports, ['started', 'head 103', 'failed'])
  })

  it('a pause before the start holds from the start on, also of a second one', () => {
    const { attempt, exchange } = sent()
    attempt.pause()
    assert.deepEqual(exchange.log, [])
    exchange.start()
    exchange.handler.onRequestStart?.(exchange.controller as DispatchController, null)
    assert.deepEqual(exchange.log, ['pause', 'pause'])
    attempt.resume()
    attempt.resume()
    assert.deepEqual(exchange.log, ['pause', 'pause', 'resume'])
  })

  it('has the hooks that cost a dispatcher work only for those who want them', () => {
    const { exchange } = sent(false)
    const { onRequestQueued, onBodySent, onResponseBytes } = exchange.handler
    assert.deepEqual([onRequestQueued, onBodySent, onResponseBytes], [undefined, undefined, undefined])
  })

  it('is over if the dispatcher throws', () => {
    const owner = new RecordingOwner()
    const attempt = new Attempt(owner, null)
    const thrown = new Error('no such call')
    assert.throws(
      () =>
        attempt.send(() => {
          throw thrown
        }, GET),
      thrown,
    )
    assert.deepEqual([attempt.isOver, owner.reports], [true, []])
  })
})
