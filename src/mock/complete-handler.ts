/** Handlers in tests often have only the methods that the test looks at. A mocked request accepts that. */
import type { DispatchHandler } from '../request/dispatch-handler.ts'

/** The methods that a `Request` checks for. */
const REQUIRED: readonly PropertyKey[] = [
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
] satisfies (keyof DispatchHandler)[]

/** Adds methods that do nothing for those that are missing. */
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
