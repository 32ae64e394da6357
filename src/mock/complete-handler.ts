/**
 * A mocked request calls the methods that its handler has, and misses none: tests often give only those that they look at.
 */
import type { DispatchHandler } from '../request/dispatch-handler.ts'

/** What a request on a connection insists on. */
const REQUIRED = [
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
] as const

const ALL = [
  ...REQUIRED,
  'onRequestQueued',
  'onRequestUpgrade',
  'onBodySent',
  'onRequestSent',
  'onResponseStarted',
] as const

/** The handler itself, or one that passes calls on to it and has the methods that it lacks. */
export function completeHandler(handler: DispatchHandler): DispatchHandler {
  if (REQUIRED.every((name) => handler[name] !== undefined)) return handler
  const complete: Record<string, unknown> = Object.fromEntries(REQUIRED.map((name) => [name, ignore]))
  for (const name of ALL) {
    const method: unknown = handler[name]
    if (typeof method === 'function') complete[name] = method.bind(handler)
    // For the check of the request to refuse.
    else if (method !== undefined) complete[name] = method
  }
  return complete
}

function ignore(): void {}
