/**
 * Requests of a whole client on in-memory connections whose server sends given bytes and closes. Whatever the bytes,
 * each request ends exactly once, and no resource stays open.
 */
import assert from 'node:assert/strict'
import type { ConnectFunction } from '../../../src/dispatcher/client-options.ts'
import type { Client, DispatchOptions } from '../../../src/index.ts'
import { turns } from '../../support/fake-clock.ts'
import { MemorySocket } from '../../support/memory-socket.ts'
import { type HandlerMethod, RecordingHandler } from '../../support/recording-handler.ts'
import type { Random } from '../random.ts'

const FINAL: readonly HandlerMethod[] = ['onResponseEnd', 'onResponseError', 'onRequestUpgrade']

/** Turns of the event loop after which a request that has not ended never will: it needs no timer. */
const PATIENCE = 1_000

const GOAWAY_ERROR = /^HTTP\/2: "GOAWAY" frame received with code [1-9]/

export type Opener = (connect: ConnectFunction) => Client

/** Null: handlers that only listen. */
export type Whims = Random | null

export class MemoryExchange {
  readonly #sockets: MemorySocket[] = []
  readonly #handlers: RecordingHandler[] = []
  readonly #client: Client
  readonly #whims: Whims

  constructor(open: Opener, whims: Whims) {
    this.#whims = whims
    this.#client = open((_, callback) => {
      const socket = new MemorySocket()
      this.#sockets.push(socket)
      queueMicrotask(() => callback(null, socket))
    })
    this.#client.on('error', () => {})
  }

  /** Requests as in the context of a recording: `GET`, `POST`, `GET upgrade`, `CONNECT`. */
  request(context: string): void {
    for (const request of context.split(',')) {
      const [method = 'GET', upgrade] = request.split(' ')
      const options: DispatchOptions = {
        method: method as 'GET',
        path: method === 'CONNECT' ? 'a.test:443' : '/',
        ...(method === 'POST' ? { body: 'body' } : null),
        ...(upgrade === 'upgrade' ? { upgrade: 'x' } : null),
      }
      const handler = new RecordingHandler((called, self) => this.#interfere(called, self))
      this.#handlers.push(handler)
      this.#client.dispatch(options, handler)
    }
  }

  #interfere(called: HandlerMethod, { controller, socket }: RecordingHandler): void {
    // A handed-over socket belongs to the caller, who does not need it.
    socket?.on('error', () => {}).destroy()
    if (this.#whims === null || FINAL.includes(called)) return
    if (this.#whims.oneIn(20)) controller?.abort(new Error('changed my mind'))
    else if (this.#whims.oneIn(8)) {
      controller?.pause()
      setImmediate(() => controller?.resume())
    }
  }

  /** The first connection sends these pieces; every connection ends once the client has written on it. */
  async play(pieces: readonly Buffer[]): Promise<void> {
    let next = 0
    let played = 0
    for (let turn = 0; turn < PATIENCE && !this.#isOver; turn++) {
      const socket = this.#sockets[next]
      if (socket === undefined || (socket.written === '' && !socket.destroyed)) {
        await turns(1)
        continue
      }
      next++
      if (next === 1) {
        for (; played < pieces.length && !socket.destroyed; played++) {
          socket.push(pieces[played])
          if (this.#whims?.oneIn(3)) await turns(1)
        }
      }
      socket.finish()
    }
    while (!this.#sockets.every((socket) => socket.destroyed)) {
      for (const socket of this.#sockets) socket.finish()
      await turns(1)
    }
    await turns(1)
    this.#assertSettled()
    await this.#client.close()
  }

  get #isOver(): boolean {
    return this.#handlers.every(({ calls }) => calls.some((call) => FINAL.includes(call)))
  }

  #assertSettled(): void {
    for (const { calls, errors } of this.#handlers) {
      const finals = calls.filter((call) => FINAL.includes(call))
      const about = `${calls.join(' ')} ${errors.map((error) => error.message).join('; ')}`
      assert.equal(finals.length, 1, about)
      assert.ok(FINAL.includes(calls.at(-1)!), about)
      for (const error of errors) assert.notEqual(error.name, 'InternalError', error.stack)
    }
    assert.deepEqual(this.#client.stats, { connected: false, pending: 0, running: 0, size: 0 })
    for (const socket of this.#sockets) {
      for (const event of ['data', 'drain', 'end', 'readable']) assert.equal(socket.listenerCount(event), 0)
    }
  }

  /**
   * The result of each caller. Null if a request was sent again: when that happens, and on which connection, depends on
   * the timing of the bytes, and changes the meaning of later bytes. The same applies to the text in parentheses after a
   * message. Null also after a GOAWAY with an error: what comes in the same read still counts, and what comes later does
   * not.
   */
  report(): unknown[] | null {
    const isSentAgain = ({ calls }: RecordingHandler): boolean =>
      calls.indexOf('onRequestStart') !== calls.lastIndexOf('onRequestStart')
    const isGivenUp = ({ error }: RecordingHandler): boolean => GOAWAY_ERROR.test(error?.message ?? '')
    if (this.#handlers.some((handler) => isSentAgain(handler) || isGivenUp(handler))) return null
    return this.#handlers.map(({ calls, statuses, headers, body, trailers, error }) => ({
      calls: calls.filter((call, i) => call !== 'onResponseData' || calls[i - 1] !== 'onResponseData'),
      statuses,
      headers,
      body,
      trailers,
      error: error === undefined ? null : `${error.name} ${error.message.replace(/ \(.*$/s, '')}`,
    }))
  }
}
