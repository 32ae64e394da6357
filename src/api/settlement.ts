/** How a method answers its caller: by promise, or by callback in the async context of the call. */
import { AsyncResource } from 'node:async_hooks'
import { atCaller, enter, leave, type PublicFunction } from '../base/error/public-call.ts'
import { InvalidArgumentError, type Timings } from '../errors.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { Dispatching } from '../request/dispatching.ts'

/** The second argument of a callback that gets an error. */
export interface FailedData<TOpaque> {
  opaque: TOpaque | null
}

export type Resolve<TData> = (data: TData) => void
export type Reject = (error: unknown) => void

/** Called once. `data` has this type if `error` is null. */
export type ApiCallback<TData, TOpaque> = (error: Error | null, data: TData & FailedData<TOpaque>) => void

/** The answer of a method. The timings are not an own property, because programs copy and print those. */
export class Answered {
  readonly #timings: Timings | null

  constructor(timings: Timings | null | undefined) {
    this.#timings = timings ?? null
  }

  get timings(): Timings | null {
    return this.#timings
  }
}

interface CommonOptions<TOpaque> {
  readonly opaque?: TOpaque | undefined
  readonly body?: unknown
}

/** Begins the request. It gets what it needs as arguments: a scope for each call would cost. */
type Start<TData, TOptions> = (
  resolve: Resolve<TData>,
  reject: Reject,
  dispatcher: Dispatching,
  opts: TOptions,
) => void

/**
 * Calls `start` with two functions that answer the caller of the public function `called`. Without a
 * callback, it returns a promise. An error that `start` throws is about an argument: it is reported like any
 * other failure, and the request body is destroyed.
 */
export function answerWith<TData, TOpaque, TOptions extends CommonOptions<TOpaque>>(
  type: string,
  dispatcher: Dispatching,
  opts: TOptions,
  callback: ApiCallback<TData, TOpaque> | undefined,
  start: Start<TData, TOptions>,
  called: PublicFunction,
): Promise<TData> | undefined {
  if (callback === undefined) {
    return new Promise<TData>((resolve, reject) => {
      const outer = enter(called)
      try {
        checkOptions(opts)
        start(resolve, reject, dispatcher, opts)
      } catch (error) {
        destroyBodyOf(opts, error)
        reject(atCaller(error))
      } finally {
        leave(outer)
      }
    })
  }
  const outer = enter(called)
  try {
    callBack(type, dispatcher, opts, callback, start)
  } catch (error) {
    throw atCaller(error)
  } finally {
    leave(outer)
  }
  return undefined
}

function callBack<TData, TOpaque, TOptions extends CommonOptions<TOpaque>>(
  type: string,
  dispatcher: Dispatching,
  opts: TOptions,
  callback: ApiCallback<TData, TOpaque>,
  start: Start<TData, TOptions>,
): void {
  if (typeof callback !== 'function') {
    checkOptions(opts)
    const error = new InvalidArgumentError('invalid callback')
    destroyBodyOf(opts, error)
    throw error
  }
  const report = callback as (error: unknown, data: unknown) => void
  let opaque: TOpaque | undefined
  try {
    checkOptions(opts)
    const resource = new AsyncResource(type)
    opaque = opts.opaque
    const failed = { opaque: opaque || null }
    start(
      (data) => resource.runInAsyncScope(report, null, null, data),
      // Never synchronously within a call of the caller or of the dispatcher.
      (error) => queueMicrotask(() => resource.runInAsyncScope(report, null, error, failed)),
      dispatcher,
      opts,
    )
  } catch (error) {
    destroyBodyOf(opts, error)
    atCaller(error)
    queueMicrotask(() => report(error, { opaque }))
  }
}

export function checkOptions(opts: unknown): void {
  if (typeof opts !== 'object' || opts === null) throw new InvalidArgumentError('invalid opts')
}
