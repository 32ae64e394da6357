/**
 * `fetch` of the runtime on our dispatchers: the standard is the runtime's part, the
 * connections are ours.
 */
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { chosenDispatcher, getGlobalDispatcher } from '../dispatcher/global.ts'
import { dispatcherIn, type RequestInitWithDispatcher, runtimeInit } from './request.ts'
import { runtimeFetch } from './runtime-class.ts'

/**
 * Fetches a resource as the WHATWG standard says. `init.dispatcher` sends it; without one, that of the
 * `Request`, or the global dispatcher.
 *
 * @example
 * const response = await fetch('https://example.com', { dispatcher: agent })
 * console.log(response.status, await response.text())
 */
export async function fetch(
  input: string | URL | globalThis.Request,
  init?: RequestInitWithDispatcher,
): Promise<Response> {
  const dispatcher = init?.dispatcher ?? (isObject(input) ? dispatcherIn(input) : null) ?? fallback(input)
  return runtimeFetch(input, runtimeInit(init, dispatcher))
}

/**
 * Null for the runtime to decide, where it comes to the same: a request made through the global class may have
 * a dispatcher that only the runtime can see.
 */
function fallback(input: unknown): Dispatcher | null {
  const leave = isObject(input) && !(input instanceof URL) && chosenDispatcher() !== null
  return leave ? null : getGlobalDispatcher()
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
