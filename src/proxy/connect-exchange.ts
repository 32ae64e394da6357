/**
 * One CONNECT to a proxy and its outcome: a tunnel, a refusal, or a failure. Dispatchers of this library hand
 * the socket over whatever the status is; others may report a refusal as an ordinary response.
 */
import type { Duplex } from 'node:stream'
import { discardSocket } from '../base/node/discard-socket.ts'
import { SocketError } from '../errors.ts'
import { Attempt, type AttemptOwner } from '../relay/attempt.ts'
import { KeptResponse } from '../relay/kept-response.ts'
import type { Head } from '../relay/response-source.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { endOf, KEPT_BYTES, type Refusal } from './proxy-error.ts'
import { readRefusal } from './refusal-reader.ts'

export type ConnectOutcome =
  | { readonly is: 'tunnel'; readonly socket: Duplex }
  /** `socket`: the connection, if another CONNECT may be sent on it. */
  | { readonly is: 'refusal'; readonly refusal: Refusal; readonly socket: Duplex | null }
  | { readonly is: 'failure'; readonly error: Error }

/** Servers may send some before the answer (RFC 9110 §15.2), but not without end. */
const MOST_INTERIM_RESPONSES = 32

export class ConnectExchange implements AttemptOwner {
  readonly #attempt = new Attempt(this, null, true)
  /** Null when the outcome has been reported, or is not wanted any more. */
  #report: ((outcome: ConnectOutcome) => void) | null
  #interim = 0
  /** The socket or the response that brings a refusal. */
  #socket: Duplex | null = null
  #response: KeptResponse | null = null

  constructor(report: (outcome: ConnectOutcome) => void) {
    this.#report = report
  }

  start(dispatcher: Dispatching, options: DispatchOptions): void {
    try {
      this.#attempt.send((opts, handler) => dispatcher.dispatch(opts, handler), options)
    } catch (error) {
      this.onFailed(this.#attempt, error as Error)
    }
  }

  /** The outcome is not wanted any more. */
  cancel(reason: Error): void {
    this.#report = null
    if (this.#socket !== null) discardSocket(this.#socket)
    this.#attempt.abort(reason)
  }

  #settle(outcome: ConnectOutcome): void {
    const report = this.#report
    this.#report = null
    report?.(outcome)
  }

  onStarted(): void {}

  onHead(attempt: Attempt, head: Head): void {
    if (head.statusCode >= 200) this.#response ??= new KeptResponse(head, KEPT_BYTES, () => attempt.abort())
    else if (++this.#interim > MOST_INTERIM_RESPONSES) attempt.abort(new SocketError('bad response'))
  }

  onData(_attempt: Attempt, chunk: Buffer): void {
    this.#response?.take(chunk)
  }

  onEnd(): void {
    this.#settle({ is: 'refusal', refusal: endOf(this.#response!), socket: null })
  }

  onUpgrade(_attempt: Attempt, head: Head, socket: Duplex): void {
    const { statusCode, headers } = head
    if (statusCode >= 200 && statusCode < 300) {
      this.#settle({ is: 'tunnel', socket })
      return
    }
    this.#socket = socket
    readRefusal(socket, head, (content, isReusable) => {
      if (!isReusable || this.#report === null) discardSocket(socket)
      const refusal = { statusCode, headers, body: content.toString() }
      this.#settle({ is: 'refusal', refusal, socket: isReusable ? socket : null })
    })
  }

  onFailed(_attempt: Attempt, error: Error): void {
    // The refusal counts, complete or not.
    if (this.#response !== null) this.onEnd()
    else this.#settle({ is: 'failure', error })
  }
}
