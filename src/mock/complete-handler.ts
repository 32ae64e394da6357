/**
 * A mocked request calls the methods that its handler has, and misses none: tests often give only those that they look at.
 */
import type { DispatchHandler } from '../request/dispatch-handler.ts'

/** What a request on a connection insists on. */
const REQUIRED: readonly PropertyKey[] = [
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
] satisfies (keyof DispatchHandler)[]

/** The handler with the methods that it lacks. */
export function completeHandler(handler: DispatchHandler): DispatchHandler {
  if (REQUIRED.every((name) => Reflect.get(handler, name) !== undefined)) return handler
  return new Proxy(handler, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method === 'function') return method.bind(target)
      return method === undefined && REQUIRED.includes(name) ? ignore : method
    },
  })
}

function ignore(): void {}
