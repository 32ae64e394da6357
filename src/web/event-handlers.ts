/**
 * The values of `onopen` and its siblings (HTML §8.1.8.1). Each is called by one listener, which keeps its
 * place among the others when the value is replaced.
 */
import { isObject } from './idl.ts'
import { defineMembers } from './interface.ts'

interface EventHandler {
  value: object
  readonly listener: (event: Event) => void
}

/** The event handlers of one object. */
export class EventHandlers {
  readonly #target: EventTarget
  readonly #set = new Map<string, EventHandler>()

  constructor(target: EventTarget) {
    this.#target = target
  }

  /** The value that was set; null for none. */
  get(name: string): unknown {
    return this.#set.get(name)?.value ?? null
  }

  /**
   * Replaces the handler. An object that is not a function is kept, and never called. Anything else removes
   * it.
   */
  set(name: string, value: unknown): void {
    // A subclass may override the methods of the target; these are the runtime's.
    const { addEventListener, removeEventListener } = EventTarget.prototype
    const present = this.#set.get(name)
    if (!isObject(value)) {
      if (present === undefined) return
      this.#set.delete(name)
      Reflect.apply(removeEventListener, this.#target, [name, present.listener])
    } else if (present !== undefined) {
      present.value = value
    } else {
      const handler: EventHandler = {
        value,
        listener: (event) => {
          if (typeof handler.value === 'function') Reflect.apply(handler.value, this.#target, [event])
        },
      }
      this.#set.set(name, handler)
      Reflect.apply(addEventListener, this.#target, [name, handler.listener])
    }
  }
}

/** Adds `onopen` and its siblings to a class. `handlersOf` throws for an object of another class. */
export function defineEventHandlers<T extends object>(
  prototype: T,
  names: readonly string[],
  handlersOf: (object: T) => EventHandlers,
): void {
  for (const name of names) {
    defineMembers(prototype, {
      get [`on${name}`](): unknown {
        return handlersOf(this as T).get(name)
      },
      set [`on${name}`](value: unknown) {
        handlersOf(this as T).set(name, value)
      },
    })
  }
}
