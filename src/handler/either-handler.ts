/**
 * Handlers for code of which nobody knows the generation, such as an interceptor of the user's: they answer to both.
 */
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import { toDispatchHandler } from './legacy-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

const NEWER_METHODS = [
  'onRequestQueued',
  'onRequestStart',
  'onBodySent',
  'onRequestSent',
  'onResponseStarted',
  'onResponseStart',
  'onResponseData',
  'onResponseBytes',
  'onResponseEnd',
  'onRequestUpgrade',
  'onResponseError',
] as const

/**
 * Stands before a caller's handler. It has the methods that this one has, because dispatchers check and count on them; as its
 * own, because interceptors write `{ ...handler, onResponseStart() {} }`.
 */
class EitherHandler {
  readonly inner: DispatchHandler

  constructor(inner: DispatchHandler) {
    this.inner = inner
    for (const name of NEWER_METHODS) {
      if (typeof inner[name] !== 'function') continue
      const value = (...args: unknown[]): unknown => Reflect.apply(inner[name]!, inner, args)
      Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true })
    }
  }
}

for (const name of NEWER_METHODS) {
  const forward = function (this: EitherHandler, ...args: unknown[]): void {
    Reflect.apply(this.inner[name]!, this.inner, args)
  }
  Object.defineProperty(EitherHandler.prototype, name, {
    get(this: EitherHandler): unknown {
      const own: unknown = this.inner[name]
      return typeof own === 'function' ? forward : own
    },
  })
}
answerOlderCalls(EitherHandler as { readonly prototype: object })

/** The handlers of this library answer to both by themselves, and are returned unchanged. */
export function inBothGenerations(handler: DispatchHandler | LegacyDispatchHandler): DispatchHandler {
  const newer = toDispatchHandler(handler)
  // What has no such method is no handler, and dispatchers refuse it.
  if (typeof (newer as DispatchHandler | null | undefined)?.onRequestStart !== 'function') return newer
  const answersOlder = typeof (newer as LegacyDispatchHandler).onConnect === 'function'
  return answersOlder ? newer : (new EitherHandler(newer) as DispatchHandler)
}

/** As its own methods even if the handler is one of this library. */
export function withOwnMethods(handler: DispatchHandler): DispatchHandler {
  return new EitherHandler(handler) as DispatchHandler
}

/** The caller's own handler again, where no interceptor has replaced it. */
export function withoutBridge(handler: DispatchHandler): DispatchHandler {
  return handler instanceof EitherHandler ? handler.inner : handler
}
