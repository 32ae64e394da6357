/**
 * Base of the handlers that this library puts before a caller's handler: forwards every call. Unlike
 * `DecoratorHandler` it has the optional hooks only if the caller's handler has them, because a dispatcher
 * works for each: a function for `onRequestQueued`, a copy of the body for `onBodySent`. It has no
 * `onResponseBytes`: bytes are lent to final handlers alone.
 */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

type BodySentHook = NonNullable<DispatchHandler['onBodySent']>

export abstract class ForwardingHandler implements DispatchHandler {
  protected readonly inner: DispatchHandler

  constructor(inner: DispatchHandler) {
    this.inner = inner
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

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.inner.onResponseEnd?.(controller, trailers)
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
