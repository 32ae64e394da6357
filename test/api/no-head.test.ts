/** A dispatcher that ends a response which it never began: whatever the method, its caller gets an error. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type Duplex, PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { RequestAbortedError } from '../../src/errors.ts'
import { turn } from '../support/fake-clock.ts'
import { type Exchange, ScriptedDispatcher } from './scripted-dispatcher.ts'

const MESSAGE = 'Request aborted: the response has no head'

interface Options {
  readonly path: string
  readonly method: string
  readonly signal: EventEmitter
  readonly body?: Readable
}

/** Calls `fail` with the error that the caller gets. */
type Call = (dispatcher: ScriptedDispatcher, options: Options, fail: (error: unknown) => void) => void

const never = (): never => assert.fail('there is no head')

const CALLS: [method: string, call: Call][] = [
  ['request', (dispatcher, options, fail) => void dispatcher.request(options).catch(fail)],
  ['request with a callback', (dispatcher, options, fail) => dispatcher.request(options, fail)],
  ['stream', (dispatcher, options, fail) => void dispatcher.stream(options, never).catch(fail)],
  [
    'pipeline',
    (dispatcher, { path, method, signal }, fail) =>
      void dispatcher.pipeline({ path, method, signal }, never).on('error', fail),
  ],
  ['connect', (dispatcher, { path, signal }, fail) => void dispatcher.connect({ path, signal }).catch(fail)],
  ['upgrade', (dispatcher, { path, signal }, fail) => void dispatcher.upgrade({ path, signal }).catch(fail)],
]

const SCRIPTS: [title: string, play: (exchange: Exchange) => void][] = [
  ['an end and nothing else', (exchange) => exchange.start().end()],
  ['an end after an informational response', (exchange) => exchange.start().head(103).end()],
  ['an end after content', (exchange) => exchange.start().data('x').end()],
  ['an end, and then more', (exchange) => exchange.start().end().head().data('x').end()],
]

for (const [method, call] of CALLS) {
  describe(method, () => {
    for (const [title, play] of SCRIPTS) {
      it(title, async () => {
        const dispatcher = new ScriptedDispatcher()
        const signal = new EventEmitter()
        const errors: unknown[] = []
        call(dispatcher, { path: '/', method: 'GET', signal }, (error) => errors.push(error))
        play(dispatcher.last)
        await turn()
        assert.equal(errors.length, 1)
        assert.ok(errors[0] instanceof RequestAbortedError)
        assert.equal(errors[0].message, MESSAGE)
        assert.equal(signal.listenerCount('abort'), 0)
        assert.deepEqual(dispatcher.last.aborts, [])
      })
    }
  })
}

it('the body of the request is destroyed', async () => {
  const body = new Readable({ read() {} })
  const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().end())
  await assert.rejects(dispatcher.request({ path: '/', method: 'PUT', body }), { message: MESSAGE })
  assert.equal(body.errored?.message, MESSAGE)
})

it('the end after a socket was handed over changes nothing', async () => {
  const socket: Duplex = new PassThrough()
  const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().upgrade(200, {}, socket).end())
  assert.equal((await dispatcher.connect({ path: '/' })).socket, socket)
  assert.equal((await dispatcher.upgrade({ path: '/' })).socket, socket)
  assert.equal(socket.destroyed, false)
})
