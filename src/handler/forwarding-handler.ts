/**
 * Base of the handlers that this library puts before a caller's handler: forwards every call. Unlike
 * `DecoratorHandler` it has the optional hooks only if the caller's handler has them, because a dispatcher works for
 * each: a function for `onRequestQueued`, a copy of the body for `onBodySent`.
 */
import type { Duplex } from 'node:stream'
import { ownBytes } from '../base/own-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

type BodySentHook = NonNullable<DispatchHandler['onBodySent']>
type BytesHook = NonNullable<DispatchHandler['onResponseBytes']>

export abstract class ForwardingHandler implements DispatchHandler {
  protected readonly inner: DispatchHandler
  /** Read once: with several of these handlers in a row, each question would go through all of them. */
  readonly #takesBytes: boolean

  constructor(inner: DispatchHandler) {
    this.inner = inner
    this.#takesBytes = inner.onResponseBytes !== undefined
  }

  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    return this.inner.onRequestQueued === undefined ? undefined : this.forwardQueued
  }

  protected forwardQueued(abort: (reason?: unknown) => void): void {
    this.inner.onRequestQueued?.(abort)
  }

  get onBodySent(): BodySentHook {
    // Absent is what undefined means here; the type of an optional method does not allow a getter to say so.
    return (this.inner.onBodySent === undefined ? undefined : this.forwardBodySent) as BodySentHook
  }

  protected forwardBodySent(chunk: string | Uint8Array): void {
    this.inner.onBodySent?.(chunk)
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.inner.onRequestStart?.(controller, context)
  }

  onRequestSent(): void {
    this.inner.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.inner.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    this.inner.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.inner.onResponseData?.(controller, chunk)
  }

  get onResponseBytes(): BytesHook {
    return (this.#takesBytes ? this.forwardBytes : undefined) as BytesHook
  }

  protected forwardBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    const passed = this.lendingController(controller, end - start)
    if (passed === null) this.onResponseData(controller, ownBytes(memory, start, end))
    else this.inner.onResponseBytes!(passed, memory, start, end)
  }

  /**
   * The controller with which the inner handler gets so many bytes that are lent; null if `onResponseData` wants them.
   * A subclass that overrides `onResponseData` overrides this as well.
   */
  protected lendingController(controller: DispatchController, _length: number): DispatchController | null {
    return controller
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.inner.onResponseEnd?.(controller, trailers)
  }

  /**
   * The last call of a response that this handler is done with. What `onResponseEnd` throws is reported to the
   * same handler, as a dispatcher does.
   */
  protected forwardEnd(controller: DispatchController, trailers: HeaderObject): void {
    try {
      this.inner.onResponseEnd?.(controller, trailers)
    } catch (error) {
      this.inner.onResponseError?.(controller, error as Error)
    }
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.inner.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.inner.onResponseError?.(controller, error)
  }
}

answerOlderCalls(ForwardingHandler)
