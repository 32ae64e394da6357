/**
 * The runtime's `Request`, which remembers the dispatcher it was made with: `fetch` cannot ask it for that.
 */
import { defineKind, isInstance } from '../base/kind.ts'
import { shared } from '../base/shared.ts'
import { Dispatcher1Wrapper, type DispatcherLike } from '../dispatcher/dispatcher1-wrapper.ts'
import { LifecycleDispatcher } from '../dispatcher/lifecycle.ts'
import { lazyClass, ownClass } from './runtime-class.ts'

const dispatchers = shared('requestDispatchers', () => new WeakMap<object, DispatcherLike>())

/** Options of `Request`, with the dispatcher that sends it. */
export interface RequestInitWithDispatcher extends Omit<RequestInit, 'dispatcher'> {
  /** Who sends it. Default: the global dispatcher. */
  dispatcher?: DispatcherLike | null | undefined
}

/** The class `Request`, whose options have a dispatcher. */
export interface RequestConstructor {
  new (input: string | URL | globalThis.Request, init?: RequestInitWithDispatcher): globalThis.Request
  readonly prototype: globalThis.Request
}

/** The dispatcher a request was made with. */
export function dispatcherIn(request: object): DispatcherLike | null {
  const kept = dispatchers().get(request)
  if (kept !== undefined) return kept
  // One that was made through the global class keeps it under such a name in Node 20 and 22, and out of sight
  // in later ones.
  for (const name of Object.getOwnPropertySymbols(request)) {
    if (name.description !== 'dispatcher') continue
    return (request as Record<symbol, DispatcherLike | null | undefined>)[name] ?? null
  }
  return null
}

/** Options as the runtime takes them, whose handlers only our own dispatchers are sure to understand. */
export function runtimeInit(
  init: RequestInitWithDispatcher | undefined,
  dispatcher: DispatcherLike | null | undefined,
): RequestInit | undefined {
  if (dispatcher === null || dispatcher === undefined) return init as RequestInit | undefined
  const ours = dispatcher instanceof LifecycleDispatcher || typeof dispatcher.dispatch !== 'function'
  return {
    ...init,
    dispatcher: ours ? dispatcher : new Dispatcher1Wrapper(dispatcher),
  } as unknown as RequestInit
}

/** The runtime's `Request`, which keeps the dispatcher it was made with. */
export type Request = globalThis.Request
/** The runtime's `Request`, which keeps the dispatcher it was made with. */
export const Request: RequestConstructor = lazyClass('Request', () => {
  const Runtime = ownClass('Request')
  // Named by the property: a bundler may rename variables.
  const { Request: Kept } = {
    Request: class extends Runtime {
      static override [Symbol.hasInstance](value: unknown): boolean {
        // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, and get the ordinary check
        return isInstance(this === Request ? Kept : this, value)
      }

      constructor(input: string | URL | globalThis.Request, init?: RequestInitWithDispatcher) {
        super(input, runtimeInit(init, init?.dispatcher))
        const kept = init?.dispatcher ?? (typeof input === 'object' ? dispatcherIn(input) : null)
        if (kept) dispatchers().set(this, kept)
      }
    },
  }
  defineKind(Kept, 'ventuno.Request')
  const { clone } = Runtime.prototype
  // Not as a method: the types of the platform have it as a field.
  Object.defineProperty(Kept.prototype, 'clone', {
    value(this: globalThis.Request): globalThis.Request {
      const copy = Object.setPrototypeOf(clone.call(this), Kept.prototype) as globalThis.Request
      const kept = dispatchers().get(this)
      if (kept) dispatchers().set(copy, kept)
      return copy
    },
    writable: true,
    enumerable: true,
    configurable: true,
  })
  return Kept
}) as RequestConstructor
