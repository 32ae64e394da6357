/**
 * What all dispatchers of the library share: the checks in front of every `dispatch()`, and the states from
 * open to destroyed.
 */
import { atCaller } from '../base/error/public-call.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { showConnections, startDebugOutput } from '../debug.ts'
import { ClientClosedError, ClientDestroyedError, InvalidArgumentError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { checkedHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { HELD, type HeldRequests, type Refusable } from '../request/dispatching.ts'
import { callersReason, type EndReason, endReason } from '../request/end-reason.ts'
import { type ConnectionSnapshot, connectionsOf } from './connection-snapshot.ts'
import { type CloseCallback, Dispatcher } from './dispatcher.ts'
import { type EventSourceOptions, readEventSourceOptions } from './event-source-options.ts'
import { readWebSocketOptions, type WebSocketOptions } from './websocket-options.ts'

/**
 * What became of an offer. `busy`: it was taken, and `drain` follows before the next one. `refused`: the call
 * was wrong.
 */
export type Offer = 'accepted' | 'busy' | 'refused'

/**
 * For the dispatchers that are made of others: `dispatch()` of any dispatcher, which distinguishes the two
 * meanings of its `false`.
 */
export function offer(dispatcher: Dispatcher, options: DispatchOptions, handler: DispatchHandler): Offer {
  if (dispatchOn(dispatcher, options, handler)) return 'accepted'
  return takesNoMore(dispatcher) ? 'busy' : 'refused'
}

/**
 * It takes no more until it drains, or is closed. A composed view answers for its original. Nothing is
 * known of a dispatcher of another library, so its `false` counts.
 */
export function takesNoMore(dispatcher: object): boolean {
  const { closed, destroyed, needsDrain } = dispatcher as Record<string, unknown>
  return needsDrain !== false || closed === true || destroyed === true
}

/**
 * For the dispatchers that make others and forget them when they are of no use: calls the listener each time
 * this one has neither a connection nor anything to do. There is one listener at most, and none for what is
 * not a dispatcher of this copy of the library, or a composed view.
 */
export let whenIdle: (dispatcher: object, listener: () => void) => void

/**
 * It has neither a connection nor anything to do. Not a method: a subclass of the caller may have one of any
 * name.
 */
export let reportIdle: (dispatcher: LifecycleDispatcher) => void

type LifeState =
  | { readonly at: 'open' }
  | { readonly at: 'closing'; readonly waiting: CloseCallback[] }
  | { readonly at: 'destroying'; readonly waiting: CloseCallback[] }
  | { readonly at: 'destroyed' }

const OPEN: LifeState = { at: 'open' }

/** Once the dispatcher is destroyed, what is added is refused when the call that added it has returned. */
class HeldSet extends Set<Refusable> {
  isOver: boolean

  constructor(isOver: boolean) {
    super()
    this.isOver = isOver
  }

  override add(request: Refusable): this {
    if (this.isOver) {
      queueMicrotask(() => {
        if (this.delete(request)) request.refuse(new ClientDestroyedError())
      })
    }
    return super.add(request)
  }
}

export interface LifecycleDispatcher {
  /** For `await using`: the same as `destroy()`, since the block that started the requests has ended. */
  [Symbol.asyncDispose](): Promise<void>
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only types what Dispatcher has
export abstract class LifecycleDispatcher extends Dispatcher {
  readonly #webSocket: Required<WebSocketOptions>
  readonly #eventSource: Required<EventSourceOptions>
  #life: LifeState = OPEN
  #idleListener: (() => void) | null = null
  #held: HeldSet | null = null
  /** Not a life state: `destroy()` alone does not make a dispatcher closed. */
  #closed = false

  static {
    whenIdle = (dispatcher, listener) => {
      if (#idleListener in dispatcher) dispatcher.#idleListener = listener
    }
    reportIdle = (dispatcher) => dispatcher.#idleListener?.()
  }

  constructor(webSocket?: WebSocketOptions | null, eventSource?: EventSourceOptions | null) {
    super()
    startDebugOutput()
    this.#webSocket = readWebSocketOptions(webSocket)
    this.#eventSource = readEventSourceOptions(eventSource)
  }

  /** True once `close()` was called. */
  get closed(): boolean {
    return this.#closed
  }

  /** True once `destroy()` was called, or a `close()` has finished. */
  get destroyed(): boolean {
    return this.#life.at === 'destroying' || this.#life.at === 'destroyed'
  }

  /** The limits for WebSocket connections through this dispatcher. */
  get webSocketOptions(): Required<WebSocketOptions> {
    return { ...this.#webSocket }
  }

  /** The limit for event streams through this dispatcher. */
  get eventSourceOptions(): Required<EventSourceOptions> {
    return { ...this.#eventSource }
  }

  /**
   * Connections made before now finish what runs on them, and get nothing more: for new certificates, or a
   * name that has moved. Requests that wait go to new connections, and none fails.
   */
  abstract retire(): void

  /**
   * The connections that there are now, each as a plain object.
   *
   * @example
   * console.table(agent.connections(), ['origin', 'state', 'protocol', 'age', 'requests'])
   */
  abstract override connections(): ConnectionSnapshot[]

  /** @internal */
  get [HELD](): HeldRequests {
    this.#held ??= new HeldSet(this.destroyed)
    return this.#held
  }

  /** A valid call on an open dispatcher. May throw: the caller's handler or the caller gets the error. */
  protected abstract accept(options: DispatchOptions, handler: DispatchHandler): boolean
  /** It has said `false`, and `drain` follows. */
  protected abstract get needsDrain(): boolean
  /** Takes nothing new; calls back when all that was accepted has ended. */
  protected abstract finish(done: () => void): void
  /** Fails all that was accepted; calls back when the connections are closed. */
  protected abstract terminate(reason: EndReason, done: () => void): void

  override dispatch(given: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    const current = checkedHandler(handler)
    try {
      const options = withoutPollution(given)
      if (typeof options !== 'object' || options === null) {
        throw new InvalidArgumentError('opts must be an object.')
      }
      if ((options as { dispatcher?: unknown }).dispatcher) {
        throw new InvalidArgumentError(
          'opts.dispatcher is not supported by instance methods. Pass opts.dispatcher to the top-level undici functions or call the dispatcher instance method directly.',
        )
      }
      if (this.destroyed) throw new ClientDestroyedError()
      if (this.#closed) throw new ClientClosedError()
      return this.accept(options, current)
    } catch (thrown) {
      const error = atCaller(thrown, LifecycleDispatcher.prototype.dispatch)
      if (typeof current.onResponseError !== 'function') throw error
      current.onResponseError(null, error as Error)
      return false
    }
  }

  override close(callback: CloseCallback): void
  override close(): Promise<void>
  override close(callback?: CloseCallback): Promise<void> | void {
    if (callback === undefined) return promised((done) => this.close(done))
    requireFunction(callback)
    if (this.#life.at === 'closing') {
      this.#life.waiting.push(callback)
      return
    }
    if (this.#life.at !== 'open') {
      queueMicrotask(() => callback(new ClientDestroyedError(), null))
      return
    }
    this.#showConnections()
    this.#closed = true
    this.#life = { at: 'closing', waiting: [callback] }
    // A microtask later: until the caller's turn is over, the dispatcher is closed and not yet destroyed.
    this.finish(() => queueMicrotask(() => this.#destroy(null, () => {})))
  }

  override destroy(error: Error | null | undefined, callback: CloseCallback): void
  override destroy(callback: CloseCallback): void
  override destroy(error?: Error | null): Promise<void>
  override destroy(error?: Error | null | CloseCallback, callback?: CloseCallback): Promise<void> | void {
    if (typeof error === 'function') return this.destroy(null, error)
    if (callback === undefined) return promised((done) => this.destroy(error, done))
    requireFunction(callback)
    const refusal = error || new ClientDestroyedError()
    this.#showConnections()
    this.#refuseHeld(refusal)
    this.#destroy(error, callback)
    // An interceptor may have answered the end of a request by holding it.
    this.#refuseHeld(refusal)
    if (this.#held !== null) this.#held.isOver = true
  }

  #showConnections(): void {
    showConnections(this, () => connectionsOf(this))
  }

  /** No connection has them, so nothing else would end them before their interceptors are ready. */
  #refuseHeld(error: Error): void {
    if (this.#held === null) return
    for (const request of this.#held) {
      this.#held.delete(request)
      request.refuse(error)
    }
  }

  /** After `close()` has finished, what interceptors hold may still be answered by them. */
  #destroy(error: Error | null | undefined, callback: CloseCallback): void {
    const life = this.#life
    if (life.at === 'destroyed') {
      queueMicrotask(() => callback(null, null))
      return
    }
    if (life.at === 'destroying') {
      life.waiting.push(callback)
      return
    }
    const waiting = life.at === 'closing' ? [...life.waiting, callback] : [callback]
    this.#life = { at: 'destroying', waiting }
    const reason = error
      ? callersReason('destroyed', error)
      : endReason('destroyed', new ClientDestroyedError())
    this.terminate(reason, () => {
      this.#life = { at: 'destroyed' }
      for (const call of waiting) queueMicrotask(() => call(null, null))
    })
  }
}

function promised(call: (done: CloseCallback) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error, data) => (error === null ? resolve(data as never) : reject(error)))
  })
}

function requireFunction(callback: unknown): void {
  if (typeof callback !== 'function') throw new InvalidArgumentError('invalid callback')
}
