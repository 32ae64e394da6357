/**
 * One CONNECT to a proxy and its outcome: a tunnel, a refusal, or a failure. Dispatchers of this library hand the socket over
 * whatever the status is; others may report a refusal as an ordinary response.
 */
import type { Duplex } from 'node:stream'
import { discardSocket } from '../api/discard-socket.ts'
import { SocketError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { answerOlderCalls } from '../handler/older-calls.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { Refusal } from './proxy-error.ts'
import { KEPT_BYTES, RefusalReader } from './refusal-reader.ts'

export type ConnectOutcome =
  | { readonly is: 'tunnel'; readonly socket: Duplex }
  /** `socket`: the connection, if it may be asked once more. */
  | { readonly is: 'refusal'; readonly refusal: Refusal; readonly socket: Duplex | null }
  | { readonly is: 'failure'; readonly error: Error }

/** Servers may send some before the answer (RFC 9110 §15.2), but not without end. */
const MOST_INTERIM_RESPONSES = 32

export class ConnectExchange implements DispatchHandler {
  /** Null when the outcome has been reported, or is not wanted any more. */
  #report: ((outcome: ConnectOutcome) => void) | null
  #abort: ((reason?: unknown) => void) | null = null
  #reason: Error | null = null
  #interim = 0
  #socket: Duplex | null = null
  /** A refusal that comes as an ordinary response. */
  #response: { readonly statusCode: number; readonly headers: HeaderObject; body: Buffer } | null = null

  constructor(report: (outcome: ConnectOutcome) => void) {
    this.#report = report
  }

  start(dispatcher: Dispatching, options: DispatchOptions): void {
    try {
      dispatchOn(dispatcher, options, this)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  /** The outcome is not wanted any more. */
  cancel(reason: Error): void {
    this.#report = null
    this.#giveUp(reason)
  }

  #giveUp(reason: Error): void {
    this.#reason = reason
    if (this.#socket !== null) discardSocket(this.#socket)
    this.#abort?.(reason)
  }

  #settle(outcome: ConnectOutcome): void {
    const report = this.#report
    this.#report = null
    report?.(outcome)
  }

  #fail(error: Error): void {
    this.#settle({ is: 'failure', error })
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abort = abort
    if (this.#reason !== null) abort(this.#reason)
  }

  onRequestStart(controller: DispatchController): void {
    this.#abort = (reason) => controller.abort(reason)
    if (this.#reason !== null) controller.abort(this.#reason)
  }

  onResponseStart(_controller: DispatchController, statusCode: number, headers: HeaderObject): void {
    if (statusCode >= 200) {
      this.#response = { statusCode, headers, body: Buffer.alloc(0) }
    } else if (++this.#interim > MOST_INTERIM_RESPONSES) {
      const error = new SocketError('bad response')
      this.#fail(error)
      this.#giveUp(error)
    }
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    if (this.#response === null) return
    this.#response.body = Buffer.concat([this.#response.body, chunk])
    if (this.#response.body.length < KEPT_BYTES) return
    this.onResponseEnd()
    this.#giveUp(new SocketError('bad connect'))
  }

  onResponseEnd(): void {
    if (this.#response === null) return
    const { statusCode, headers, body } = this.#response
    this.#refuse(statusCode, headers, body, null)
  }

  onRequestUpgrade(
    _controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#abort = null
    if (this.#report === null) {
      discardSocket(socket)
    } else if (statusCode >= 200 && statusCode < 300) {
      this.#settle({ is: 'tunnel', socket })
    } else {
      this.#socket = socket
      new RefusalReader(socket, statusCode, headers, (body, isReusable) => {
        if (!isReusable || this.#report === null) discardSocket(socket)
        this.#refuse(statusCode, headers, body, isReusable ? socket : null)
      }).start()
    }
  }

  #refuse(statusCode: number, headers: HeaderObject, body: Buffer, socket: Duplex | null): void {
    const refusal = { statusCode, headers, body: body.toString('utf8', 0, KEPT_BYTES) }
    this.#settle({ is: 'refusal', refusal, socket })
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#fail(error)
  }
}

answerOlderCalls(ConnectExchange)
