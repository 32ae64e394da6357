/**
 * The values of `onopen` and its siblings (HTML §8.1.8.1). Each is called by one listener, which keeps its place among the
 * others when the value is replaced.
 */

interface EventHandler {
  value: object
  readonly listener: (event: Event) => void
}

/** The event handlers of one object. */
export class EventHandlers<Name extends string> {
  readonly #target: EventTarget
  readonly #set = new Map<Name, EventHandler>()

  constructor(target: EventTarget) {
    this.#target = target
  }

  /** The value that was set; null for none. */
  get(name: Name): unknown {
    return this.#set.get(name)?.value ?? null
  }

  /** Replaces the handler. An object that is not a function is kept, and never called. Anything else removes it. */
  set(name: Name, value: unknown): void {
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

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
