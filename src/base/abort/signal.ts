/**
 * Subscriptions to abort signals. Many requests may share one long-lived signal; each hub adds one listener
 * for all of them and removes it with the last (a listener per request leaks, and warns at the eleventh).
 */
import { throwLater } from '../loop/throw-later.ts'

/** The part of `AbortSignal` that is needed; any EventTarget will do. */
export interface AbortEventTarget {
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
  readonly aborted?: boolean
  readonly reason?: unknown
}

/** An EventEmitter that emits `abort`. */
export interface AbortEmitter {
  on(event: 'abort', listener: () => void): unknown
  removeListener(event: 'abort', listener: () => void): unknown
  readonly aborted?: boolean
  readonly reason?: unknown
}

export type AbortSource = AbortSignal | AbortEventTarget | AbortEmitter

/** Whether a caller's value can be subscribed to. */
export function isAbortSource(value: unknown): value is AbortSource {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  const candidate = value as Partial<AbortEventTarget & AbortEmitter>
  return typeof candidate.addEventListener === 'function' || typeof candidate.on === 'function'
}

/** Wrapped, because a signal may be aborted with any reason, `undefined` included. */
export function abortedReason(signal: AbortSource): { readonly reason: unknown } | null {
  return signal.aborted === true ? { reason: signal.reason } : null
}

function isEventTarget(signal: AbortSource): signal is AbortEventTarget {
  return typeof (signal as AbortEventTarget).addEventListener === 'function'
}

/** A getter that throws must not prevent the abort. */
function reasonOf(signal: AbortSource): unknown {
  try {
    return signal.reason
  } catch (error) {
    return error
  }
}

/** An object for each subscription: the same function may be subscribed twice. */
interface Subscriber {
  readonly onAbort: (reason: unknown) => void
}

/** By the signal: the subscribers of one hub. */
type FanOuts = Map<AbortSource, FanOut>

/** All subscribers of one hub to one signal. */
class FanOut {
  readonly subscribers: Set<Subscriber> = new Set()
  readonly #signal: AbortSource
  readonly #hub: FanOuts
  #listening = true

  constructor(signal: AbortSource, hub: FanOuts) {
    this.#signal = signal
    this.#hub = hub
  }

  /**
   * After the first subscriber has joined: a signal may fire while the listener is added. One that does so
   * before it has the listener emits nothing more, but is aborted.
   */
  listen(): void {
    const signal = this.#signal
    this.#hub.set(signal, this)
    try {
      if (isEventTarget(signal)) signal.addEventListener('abort', this.#onAbort)
      else signal.on('abort', this.#onAbort)
      if (abortedReason(signal) !== null) this.#onAbort()
    } catch (error) {
      this.#hub.delete(signal)
      throw error
    }
  }

  remove(subscriber: Subscriber): void {
    if (this.subscribers.delete(subscriber) && this.subscribers.size === 0) this.#release()
  }

  #release(): void {
    // After an abort the hub may already hold a newer fan-out for the same signal.
    if (!this.#listening) return
    this.#listening = false
    this.#hub.delete(this.#signal)
    try {
      if (isEventTarget(this.#signal)) this.#signal.removeEventListener('abort', this.#onAbort)
      else this.#signal.removeListener('abort', this.#onAbort)
    } catch {
      // A signal that is not an AbortSignal may have no such method. The request it was for ends all the
      // same.
    }
  }

  readonly #onAbort = (): void => {
    if (!this.#listening) return
    const reason = reasonOf(this.#signal)
    // A subscriber may dispose others, or subscribe anew: those belong to the next fan-out.
    this.#release()
    for (const subscriber of [...this.subscribers]) {
      if (!this.subscribers.delete(subscriber)) continue
      try {
        subscriber.onAbort(reason)
      } catch (error) {
        throwLater(error)
      }
    }
  }
}

const abandoned = new FinalizationRegistry<() => void>((dispose) => dispose())

/** Outside of the method, so that the closure holds nothing but the weak reference. */
function weakListener<T extends object>(
  ref: WeakRef<T>,
  onAbort: (target: T, reason: unknown) => void,
): (reason: unknown) => void {
  return (reason) => {
    const target = ref.deref()
    if (target !== undefined) onAbort(target, reason)
  }
}

export class SignalHub {
  readonly #fanOuts: FanOuts = new Map()

  /**
   * Calls `onAbort` once when the signal aborts, with its `reason`: even before this returns, if the signal
   * fires while it is subscribed to. The caller checks {@link abortedReason} first: an aborted signal emits
   * nothing more. Returns the disposer, which may be called repeatedly.
   */
  subscribe(signal: AbortSource, onAbort: (reason: unknown) => void): () => void {
    const present = this.#fanOuts.get(signal)
    const fanOut = present ?? new FanOut(signal, this.#fanOuts)
    const subscriber: Subscriber = { onAbort }
    fanOut.subscribers.add(subscriber)
    if (present === undefined) fanOut.listen()
    return () => fanOut.remove(subscriber)
  }

  /**
   * The same, but the subscription does not keep `target` alive: it goes when the target is collected. For
   * objects that may be dropped silently, such as an unread response.
   */
  subscribeWeakly<T extends object>(
    signal: AbortSource,
    target: T,
    onAbort: (target: T, reason: unknown) => void,
  ): () => void {
    const dispose = this.subscribe(signal, weakListener(new WeakRef(target), onAbort))
    // Not unregistered by its target, which may have another subscription.
    abandoned.register(target, dispose, dispose)
    return () => {
      abandoned.unregister(dispose)
      dispose()
    }
  }
}
