/**
 * How a method answers its caller: by promise, or by callback in the async context of the call. Knows nothing
 * of requests.
 */
import { AsyncResource } from 'node:async_hooks'
import { InvalidArgumentError, type Timings } from '../errors.ts'
import { destroyBodyOf } from '../request/body-source.ts'

/** The second argument of a callback that gets an error. */
export interface FailedData<TOpaque> {
  opaque: TOpaque | null
}

export type Resolve<TData> = (data: TData) => void
export type Reject = (error: unknown) => void

/** Called once. The type of `data` describes it in the case of `error === null`. */
export type ApiCallback<TData, TOpaque> = (error: Error | null, data: TData & FailedData<TOpaque>) => void

/** What a method answers with. The times are not among its own properties, which programs copy and print. */
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

/** Begins the request. */
type Start<TData> = (resolve: Resolve<TData>, reject: Reject) => void

/**
 * Runs `start` with a way to answer. The promise form is chosen only when the callback is undefined. An error
 * that `start` throws is about an argument: it is answered like any other failure, and the request body is
 * destroyed.
 */
export function answerWith<TData, TOpaque>(
  type: string,
  opts: CommonOptions<TOpaque>,
  callback: ApiCallback<TData, TOpaque> | undefined,
  start: Start<TData>,
): Promise<TData> | undefined {
  if (callback === undefined) {
    return new Promise<TData>((resolve, reject) => {
      try {
        checkOptions(opts)
        start(resolve, reject)
      } catch (error) {
        destroyBodyOf(opts, error)
        reject(error)
      }
    })
  }
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
      // Never inside the caller's own call, nor inside the dispatcher's.
      (error) => queueMicrotask(() => resource.runInAsyncScope(report, null, error, failed)),
    )
  } catch (error) {
    destroyBodyOf(opts, error)
    queueMicrotask(() => report(error, { opaque }))
  }
  return undefined
}

export function checkOptions(opts: unknown): void {
  if (typeof opts !== 'object' || opts === null) throw new InvalidArgumentError('invalid opts')
}
