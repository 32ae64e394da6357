/**
 * The failed attempts of one request: what an error tells about them, and the messages about those that are
 * repeated.
 */
import { readableError } from '../../base/error/as-error.ts'
import { now } from '../../base/loop/clock.ts'
import { channels } from '../../diagnostics.ts'
import { RequestRetryError } from '../../errors.ts'
import { codeOf, errorFacts, ownField } from '../../relay/error-facts.ts'
import { watcherOf } from '../../relay/request-watcher.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { RetryHook } from './options.ts'
import { note } from './policy.ts'
import { askedWaitOf } from './retry-after.ts'

/** One failed attempt. */
export interface RetryAttempt {
  /** The code of the error, if it failed with one. */
  code?: string
  /** The status, if it failed with one. */
  statusCode?: number
  /** When it had failed: milliseconds on the clock of `performance.now()`. */
  at: number
  /** Milliseconds until the next attempt; null if there was none, or if a policy of the caller decided. */
  delay: number | null
}

export class FailedAttempts {
  readonly #list: RetryAttempt[] = []
  /** The error of the last attempt that a dispatcher has taken. */
  #reason: unknown = null

  /** How many have failed. */
  get count(): number {
    return this.#list.length
  }

  add(error: unknown): void {
    if (errorFacts(error).fault !== 'dispatcher') this.#reason = error
    const statusCode = ownField(error, 'statusCode')
    const code = codeOf(error)
    const attempt: RetryAttempt = { at: now(), delay: null }
    if (typeof statusCode === 'number') attempt.statusCode = statusCode
    else if (code !== null) attempt.code = code
    this.#list.push(attempt)
  }

  /** Another attempt follows the last one. Returns what the caller's hook does. */
  onRetry(error: Error, delay: number | null, opts: DispatchOptions, hook: RetryHook | null): unknown {
    this.#list.at(-1)!.delay = delay
    const { origin, method, path } = opts
    watcherOf(opts)?.onRetried(error)
    if (channels.requestRetry.hasSubscribers) {
      const shown = readableError(error)
      channels.requestRetry.publish({ origin, method, path, error: shown, counter: this.count, delay })
    }
    const { statusCode } = this.#list.at(-1)!
    return hook?.({ attempt: this.count, error, statusCode, delay, origin, method, path })
  }

  /** Adds them to the error that the request ends with. A value of the caller stays as it is. */
  describe(error: unknown): void {
    if (this.count === 0 || codeOf(error) === null) return
    note(error, { attempts: this.#list })
    // The dispatcher has refused the next attempt: the failure before it says more.
    const isRefused = errorFacts(error).fault === 'dispatcher'
    if (isRefused && this.#reason !== null && (ownField(error, 'cause') ?? null) === null)
      note(error, { cause: this.#reason })
  }
}

/** The error of an attempt that was answered, but not with what was asked for. */
export function statusError(message: string, head: Head, before: FailedAttempts): RequestRetryError {
  const { statusCode, headers } = head
  const count = before.count + 1
  const error = new RequestRetryError(message, statusCode, { headers, data: { count } })
  const retryAfter = askedWaitOf(headers)
  if (retryAfter !== null) note(error, { retryAfter })
  return error
}
