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

/** The event handlers of one object, by the names of the events. */
export type EventHandlers = Map<string, EventHandler>

/** Adds `onopen` and its siblings to a class. `handlersOf` throws for an object of another class. */
export function defineEventHandlers<T extends EventTarget>(
  prototype: T,
  names: readonly string[],
  handlersOf: (object: T) => EventHandlers,
): void {
  for (const name of names) {
    defineMembers(prototype, {
      get [`on${name}`](): unknown {
        return handlersOf(this as T).get(name)?.value ?? null
      },
      set [`on${name}`](value: unknown) {
        setHandler(this as T, handlersOf(this as T), name, value)
      },
    })
  }
}

/** An object that is not a function is kept, and never called. Anything else removes the handler. */
function setHandler(target: EventTarget, handlers: EventHandlers, name: string, value: unknown): void {
  // A subclass may override the methods of the target; these are the runtime's.
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const present = handlers.get(name)
  if (!isObject(value)) {
    if (present === undefined) return
    handlers.delete(name)
    Reflect.apply(removeEventListener, target, [name, present.listener])
  } else if (present !== undefined) {
    present.value = value
  } else {
    const handler: EventHandler = {
      value,
      listener: (event) => {
        if (typeof handler.value === 'function') Reflect.apply(handler.value, target, [event])
      },
    }
    handlers.set(name, handler)
    Reflect.apply(addEventListener, target, [name, handler.listener])
  }
}
