/**
 * How a dispatcher tells the one that made it that it has neither a connection nor anything to do, and can be
 * forgotten. Beside the events, because not every way into that state has one, and the public classes need
 * no member for it.
 */
import { shared } from '../base/shared.ts'

const listeners = shared('vacancy', () => new WeakMap<object, () => void>())

/** Calls the listener each time the dispatcher has become vacant. There is one listener at most. */
export function whenVacant(dispatcher: object, listener: () => void): void {
  listeners().set(dispatcher, listener)
}

export function announceVacancy(dispatcher: object): void {
  listeners().get(dispatcher)?.()
}
