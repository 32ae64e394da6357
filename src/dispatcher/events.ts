/**
 * Events of dispatchers, as their listeners may be: one that throws is its owner's trouble, and must not stop
 * what is going on.
 */
import type { EventEmitter } from 'node:events'
import { throwLater } from '../base/loop/throw-later.ts'

export function emitSafely(emitter: EventEmitter, event: string | symbol, ...args: unknown[]): void {
  try {
    emitter.emit(event, ...args)
  } catch (error) {
    throwLater(error)
  }
}
