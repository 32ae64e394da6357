/**
 * The handler protocols: what `dispatch()` calls while a request runs.
 */
import type { Duplex } from 'node:stream'
import { InvalidArgumentError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { RawFields } from './received-fields.ts'

/** Given to every handler method that may want to steer its request. */
export interface DispatchController {
  /** Fails the request with `reason`, or with a `RequestAbortedError`. The first call wins. */
  abort(reason?: unknown): void
  /** Stops delivery when the running callback returns. */
  pause(): void
  /** Goes on with delivery; does nothing when not paused. */
  resume(): void
  /** Whether `abort` was called. */
  readonly aborted: boolean
  /** Whether delivery is stopped. */
  readonly paused: boolean
  /** What `abort` was called with, which should be an error; null before. */
  readonly reason: Error | null
  /**
   * Flat name, value list of Buffers of the latest response head, as received; null before. Undici has other
   * forms, too.
   */
  rawHeaders?: RawFields
  /** Flat name, value list of Buffers of the trailers; null before the end. */
  rawTrailers?: RawFields
  /** Filled in while the request runs. Absent from controllers of other dispatchers. */
  readonly timings?: Timings
  /** Most bytes of the response body, also of what it unpacks to; negative for any number. */
  readonly maxResponseSize?: number
  /** Of the connection that carries the request; null if none does. Absent from controllers of others. */
  readonly httpVersion?: '1.1' | '2' | null
}

/** A handler of undici 7 and later. */
export interface DispatchHandler {
  /**
   * Called once inside `dispatch()` when the request was accepted, with a way to give it up while it still
   * waits. An addition of ventuno; other dispatchers do not call it.
   */
  onRequestQueued?: ((abort: (reason?: unknown) => void) => void) | undefined
  /** Right before the request is written; again, with a new controller, when it is sent again. */
  // biome-ignore lint/suspicious/noExplicitAny: handlers keep there what they like, and read its members
  onRequestStart?(controller: DispatchController, context: any): void
  /** After a piece of the body was handed over, as the caller gave it. */
  onBodySent?(chunk: string | Uint8Array): void
  /** After head and body were handed over. */
  onRequestSent?(): void
  /** At the first byte of a response message. */
  onResponseStarted?(): void
  /** For each informational head and for the final one. */
  onResponseStart?(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusMessage?: string,
  ): void
  /** For each piece of the body. */
  onResponseData?(controller: DispatchController, chunk: Buffer): void
  /**
   * Instead of `onResponseData`, for a handler that copies: the bytes of the piece are those of `memory` from
   * `start` to `end`, which is lent for the length of the call. An addition of ventuno; other dispatchers do
   * not call it.
   */
  onResponseBytes?(controller: DispatchController, memory: Buffer, start: number, end: number): void
  /** The final call, when all went well. */
  onResponseEnd?(controller: DispatchController, trailers: HeaderObject): void
  /** Instead of the response methods, when the connection now belongs to the caller. */
  onRequestUpgrade?(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void
  /** The final call. The controller is missing when the request never started. */
  onResponseError?(controller: DispatchController | null | undefined, error: Error): void
}

/** What a method of a handler is called with. */
export type HookArguments<K extends keyof DispatchHandler> = Parameters<NonNullable<DispatchHandler[K]>>

/** A handler of undici 6 and earlier, which is what `fetch` of Node 20, 22 and 24 brings. */
export interface LegacyDispatchHandler {
  /** Right before the request is written; again when it is sent again. */
  onConnect?(abort: (reason?: unknown) => void, context: unknown): void
  /** After a piece of the body was handed over. */
  onBodySent?(chunk: string | Uint8Array): void
  /** After head and body were handed over. */
  onRequestSent?(): void
  /** At the first byte of a response message. */
  onResponseStarted?(): void
  /** For each informational head and for the final one; false pauses. */
  onHeaders?(statusCode: number, rawHeaders: Buffer[], resume: () => void, statusMessage?: string): unknown
  /** For each piece of the body; false pauses until `resume` is called. */
  onData?(chunk: Buffer): unknown
  /** The final call, when all went well. */
  onComplete?(rawTrailers: Buffer[]): void
  /** Instead of the other response methods, when the connection now belongs to the caller. */
  onUpgrade?(statusCode: number, rawHeaders: Buffer[], socket: Duplex): unknown
  /** The final call, when the request failed. */
  onError?(error: Error): void
}

/** Throws for a handler without a method that a request like this one calls. */
export function checkHandler(handler: DispatchHandler, takesOver: boolean): void {
  if (typeof handler.onRequestStart !== 'function') throw invalidMethod('onRequestStart')
  if (typeof handler.onResponseError !== 'function') throw invalidMethod('onResponseError')
  const { onBodySent, onRequestSent } = handler
  if (onBodySent !== undefined && typeof onBodySent !== 'function') throw invalidMethod('onBodySent')
  if (onRequestSent !== undefined && typeof onRequestSent !== 'function') throw invalidMethod('onRequestSent')
  if (takesOver) {
    if (typeof handler.onRequestUpgrade !== 'function') throw invalidMethod('onRequestUpgrade')
    return
  }
  if (typeof handler.onResponseStart !== 'function') throw invalidMethod('onResponseStart')
  if (typeof handler.onResponseData !== 'function') throw invalidMethod('onResponseData')
  if (typeof handler.onResponseEnd !== 'function') throw invalidMethod('onResponseEnd')
}

function invalidMethod(name: keyof DispatchHandler): Error {
  return new InvalidArgumentError(`invalid ${name} method`)
}
