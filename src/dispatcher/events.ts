/**
 * Emits events of dispatchers. A listener that throws does not stop the code that emits: its exception is
 * thrown later.
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
