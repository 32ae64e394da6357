/** The dispatcher of a WebSocket that was given none. */
import type { Dispatcher } from '../dispatcher/dispatcher.ts'

export function defaultDispatcher(): Dispatcher {
  throw new TypeError('a dispatcher is required')
}
