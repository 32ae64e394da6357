/**
 * The functions in `onopen` and its siblings: each is a listener that keeps its place when it is asked for.
 */

type Listener = Parameters<EventTarget['addEventListener']>[1]

/** The event handlers of one object (HTML §8.1.8.1). */
export class EventHandlers<Name extends string> {
  readonly #target: EventTarget
  readonly #keepsObjects: boolean
  readonly #set = new Map<Name, { readonly handler: unknown; readonly listener: Listener | null }>()

  /** With `keepsObjects`, an object that is not a function is kept, and never called. */
  constructor(target: EventTarget, keepsObjects = false) {
    this.#target = target
    this.#keepsObjects = keepsObjects
  }

  /** The value that was set; null for none. */
  get(name: Name): unknown {
    return this.#set.get(name)?.handler ?? null
  }

  /** Replaces the handler; anything but a function removes it. */
  set(name: Name, handler: unknown): void {
    // A subclass may override the methods of the target; these are the runtime's.
    const { addEventListener, removeEventListener } = EventTarget.prototype
    const present = this.#set.get(name)
    if (present !== undefined) Reflect.apply(removeEventListener, this.#target, [name, present.listener])
    this.#set.delete(name)
    if (typeof handler !== 'function') {
      if (this.#keepsObjects && typeof handler === 'object' && handler !== null) {
        this.#set.set(name, { handler, listener: null })
      }
      return
    }
    const listener = (event: Event): void => {
      Reflect.apply(handler, this.#target, [event])
    }
    this.#set.set(name, { handler, listener })
    Reflect.apply(addEventListener, this.#target, [name, listener])
  }
}
