/**
 * A handler of both generations. Dispatchers of undici 6 and of Node 20 to 24 call `onConnect` and the like; newer
 * ones and ours call `onRequestStart` and the like. Each finds the methods it knows, and the older methods call the
 * newer ones.
 */
import type { HeaderObject } from '../protocol/header-block.ts'
import { addField } from '../protocol/header-block.ts'
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../request/dispatch-handler.ts'

/** Replaces the controller that an older dispatcher does not pass. */
class LegacyController implements DispatchController {
  readonly #abort: (reason?: unknown) => void
  resumeFlow: (() => void) | null = null
  paused = false
  aborted = false
  reason: Error | null = null

  constructor(abort: (reason?: unknown) => void) {
    this.#abort = abort
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason as Error
    this.#abort(reason)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.resumeFlow?.()
  }
}

export abstract class FetchHandler implements DispatchHandler, LegacyDispatchHandler {
  #legacy: LegacyController | null = null

  abstract onRequestStart(controller: DispatchController, context: unknown): void
  abstract onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void
  abstract onResponseData(controller: DispatchController, chunk: Buffer): void
  abstract onResponseEnd(controller: DispatchController, trailers: HeaderObject): void
  abstract onResponseError(controller: DispatchController | null | undefined, error: Error): void

  onConnect(abort: (reason?: unknown) => void, context: unknown): void {
    this.#legacy = new LegacyController(abort)
    this.onRequestStart(this.#legacy, context)
  }

  onHeaders(
    statusCode: number,
    rawHeaders: readonly (Buffer | string)[] | null,
    resume: () => void,
    statusText: string,
  ): boolean {
    const controller = this.#legacy!
    controller.resumeFlow = resume
    this.onResponseStart(controller, statusCode, objectOf(rawHeaders), statusText ?? '')
    return !controller.paused
  }

  onData(chunk: Buffer): boolean {
    const controller = this.#legacy!
    this.onResponseData(controller, chunk)
    return !controller.paused
  }

  onComplete(_rawTrailers: unknown): void {
    this.onResponseEnd(this.#legacy!, {})
  }

  onError(error: Error): void {
    this.onResponseError(this.#legacy, error)
  }

  /** Fetch upgrades nothing, but a dispatcher may check that the method exists. */
  onUpgrade(_statusCode: number, _rawHeaders: unknown, socket: { destroy(): void }): void {
    socket.destroy()
    this.onResponseError(this.#legacy, new Error('unexpected upgrade'))
  }
}

function objectOf(raw: readonly (Buffer | string)[] | null): HeaderObject {
  const headers: HeaderObject = {}
  for (let i = 0; raw !== null && i + 1 < raw.length; i += 2) {
    addField(headers, latin1(raw[i]!).toLowerCase(), latin1(raw[i + 1]!))
  }
  return headers
}

function latin1(part: Buffer | string): string {
  return typeof part === 'string' ? part : part.toString('latin1')
}
