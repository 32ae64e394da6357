/** One attempt in a race: reports to its race, and can be given up wherever it is. */
import type { Duplex } from 'node:stream'
import { answerOlderCalls } from '../../handler/older-calls.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { HeldResponse } from '../held-response.ts'

/** What an attempt reports. */
export interface Race {
  onQueued(): void
  onStart(attempt: HedgeAttempt, context: unknown): void
  onBodySent(attempt: HedgeAttempt, chunk: string | Uint8Array): void
  onRequestSent(attempt: HedgeAttempt): void
  onResponseStarted(attempt: HedgeAttempt): void
  onHead(
    attempt: HedgeAttempt,
    statusCode: number,
    headers: HeaderObject,
    statusText: string | undefined,
  ): void
  onData(attempt: HedgeAttempt, chunk: Buffer): void
  onEnd(attempt: HedgeAttempt, trailers: HeaderObject): void
  onUpgrade(attempt: HedgeAttempt, statusCode: number, headers: HeaderObject, socket: Duplex): void
  onError(attempt: HedgeAttempt, error: Error): void
}

export class HedgeAttempt implements DispatchHandler {
  readonly #race: Race
  #controller: DispatchController | null = null
  #abortQueued: ((reason?: unknown) => void) | null = null
  #abort: { readonly reason: unknown } | null = null
  /** A bad response, kept in case that there is no better one. */
  held: HeldResponse | null = null
  heldBytes = 0

  constructor(race: Race) {
    this.#race = race
  }

  /** Null until it has started. */
  get controller(): DispatchController | null {
    return this.#controller
  }

  abort(reason?: unknown): void {
    if (this.#abort !== null) return
    this.#abort = { reason }
    if (this.#controller !== null) this.#controller.abort(reason)
    else this.#abortQueued?.(reason)
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abortQueued = abort
    if (this.#abort !== null) abort(this.#abort.reason)
    else this.#race.onQueued()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller = controller
    if (this.#abort !== null) controller.abort(this.#abort.reason)
    else this.#race.onStart(this, context)
  }

  onBodySent(chunk: string | Uint8Array): void {
    this.#race.onBodySent(this, chunk)
  }

  onRequestSent(): void {
    this.#race.onRequestSent(this)
  }

  onResponseStarted(): void {
    this.#race.onResponseStarted(this)
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    this.#controller = controller
    this.#race.onHead(this, statusCode, headers, statusText)
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    this.#race.onData(this, chunk)
  }

  onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    this.#race.onEnd(this, trailers)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#controller = controller
    this.#race.onUpgrade(this, statusCode, headers, socket)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#race.onError(this, error)
  }
}

answerOlderCalls(HedgeAttempt)
