/**
 * The AsyncLocalStorage context of a call. What belongs to one call runs in it, although sockets, timers and
 * signals serve many calls, and bring along the context of whoever made them.
 *
 * From Node 24 on, a context is a frame that an AsyncResource keeps: where there is none, nothing is kept and
 * calls are made directly. Before that the runtime does not say cheaply whether there is one, but running in
 * it costs little.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'

export type CallContext = AsyncResource

const TYPE = 'VENTUNO_CALL'

/** Without this the runtime watches when the object is collected. */
const OPTIONS = { requireManualDestroy: true } as const

type Marked = AsyncResource & Record<symbol, unknown>

/**
 * The property that has the frame of a resource; null if contexts are not kept in frames, or not where we
 * look.
 */
const FRAME = frameSymbol()

function frameSymbol(): symbol | null {
  // The older implementation has this method. There the property exists in some versions, and is always
  // undefined.
  if ('_enable' in AsyncLocalStorage.prototype) return null
  const symbols = Object.getOwnPropertySymbols(new AsyncResource(TYPE, OPTIONS))
  return symbols.find(({ description }) => description === 'context_frame') ?? null
}

/** No context has been seen so far. */
let isUnused = FRAME !== null

/** Made where there was no context. Only where contexts are frames, so nobody can enter a context in it. */
let empty: AsyncResource | null = null

/** The context of the code that calls this; null if contexts are not in use. */
export function captureContext(): CallContext | null {
  if (isUnused) {
    if (isOutside()) {
      empty ??= new AsyncResource(TYPE, OPTIONS)
      return null
    }
    isUnused = false
  }
  return new AsyncResource(TYPE, OPTIONS)
}

/**
 * Whether there is no context here. The object goes nowhere else, so that compiled code does not allocate it.
 */
function isOutside(): boolean {
  return (new AsyncResource(TYPE, OPTIONS) as Marked)[FRAME!] === undefined
}

/**
 * What to run a call in; null to make it directly. A call from before contexts were in use has an empty one.
 */
export function activeContext(captured: CallContext | null): CallContext | null {
  return captured === null && !isUnused ? empty : captured
}

export function runIn<TThis, TArgs extends unknown[], TResult>(
  captured: CallContext | null,
  fn: (this: TThis, ...args: TArgs) => TResult,
  thisArg: TThis,
  ...args: TArgs
): TResult {
  const context = activeContext(captured)
  return context === null
    ? Reflect.apply(fn, thisArg, args)
    : context.runInAsyncScope(fn as (this: TThis, ...args: unknown[]) => TResult, thisArg, ...args)
}
