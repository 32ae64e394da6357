/**
 * Lets handlers of the newer generation answer the calls of the older one (`onConnect` …). A dispatcher of
 * undici 6 or of Node 20 to 24 makes these calls, and so does an interceptor that was written for those: it
 * wraps the handler that it gets in one of its own, and calls the methods it knows.
 */
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../request/dispatch-handler.ts'
import { parseHeaders } from './raw-headers.ts'

/** A flat list of names and values. Interceptors also make such lists of strings. */
type RawFields = readonly (Buffer | string)[] | null | undefined

/** Replaces the controller that an older caller does not pass. */
class OlderController implements DispatchController {
  readonly #abort: ((reason?: unknown) => void) | undefined
  resumeFlow: (() => void) | undefined = undefined
  paused = false
  aborted = false
  reason: Error | null = null
  rawHeaders: Buffer[] | null = null
  rawTrailers: Buffer[] | null = null

  constructor(abort: ((reason?: unknown) => void) | undefined) {
    this.#abort = abort
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason as Error
    this.#abort?.(reason)
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

/** Not a field: most handlers have no older callers. */
const controllers = new WeakMap<DispatchHandler, OlderController>()

function begin(handler: DispatchHandler, abort?: (reason?: unknown) => void): OlderController {
  const controller = new OlderController(abort)
  controllers.set(handler, controller)
  return controller
}

/** An interceptor that answers by itself may leave out `onConnect`. */
function controllerOf(handler: DispatchHandler): OlderController {
  return controllers.get(handler) ?? begin(handler)
}

function buffersOf(raw: RawFields): Buffer[] {
  return Array.from(raw ?? [], (part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))
}

const OLDER_METHODS: LegacyDispatchHandler & ThisType<DispatchHandler> = {
  onConnect(abort, context) {
    this.onRequestStart?.(begin(this, abort), context)
  },
  onHeaders(statusCode, rawHeaders, resume, statusText) {
    const controller = controllerOf(this)
    controller.resumeFlow = resume
    controller.rawHeaders = buffersOf(rawHeaders)
    this.onResponseStart?.(controller, statusCode, parseHeaders(controller.rawHeaders), statusText ?? '')
    return !controller.paused
  },
  onData(chunk) {
    const controller = controllerOf(this)
    this.onResponseData?.(controller, chunk)
    return !controller.paused
  },
  onComplete(rawTrailers) {
    const controller = controllerOf(this)
    controller.rawTrailers = buffersOf(rawTrailers)
    this.onResponseEnd?.(controller, parseHeaders(controller.rawTrailers))
  },
  onUpgrade(statusCode, rawHeaders, socket) {
    const controller = controllerOf(this)
    controller.rawHeaders = buffersOf(rawHeaders)
    this.onRequestUpgrade?.(controller, statusCode, parseHeaders(controller.rawHeaders), socket)
  },
  onError(error) {
    this.onResponseError?.(controllers.get(this) ?? null, error)
  },
}

/** Adds the older methods to a class of handlers: they call the newer ones. */
export function answerOlderCalls(kind: { readonly prototype: DispatchHandler }): void {
  for (const [name, value] of Object.entries(OLDER_METHODS)) {
    Object.defineProperty(kind.prototype, name, { value, writable: true, configurable: true })
  }
}
