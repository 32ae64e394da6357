/**
 * The default policy: whether a failed request is sent again, and after how many milliseconds. What the
 * dispatcher knows (`retrySafety`) decides first; the lists of methods, codes and statuses decide about the
 * rest.
 */
import { now } from '../../base/loop/clock.ts'
import { LONGEST_DELAY } from '../../base/loop/deadline.ts'
import { onRejection } from '../../base/loop/thenable.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { codeOf, errorFacts, isOfStatus, isOpenCircuit, ownField } from '../../relay/error-facts.ts'
import { originKey } from '../../relay/origin-key.ts'
import { beginsAnew } from '../../relay/replay.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { type RetrySettings, shownRetryOptions } from './options.ts'
import { isRepeatable } from './repeat.ts'
import { askedWaitOf } from './retry-after.ts'

/** No retry. */
export const GIVE_UP = -1

/** The most that is added to a wait that the server asked for, so that not all clients come back at once. */
const MAX_ADDED_TO_RETRY_AFTER = 1000

/** Of `timeouts`. That for a request body is missing: the caller's source has stalled, and would again. */
const TIME_LIMITS: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/**
 * Returns the milliseconds to wait, or `GIVE_UP`. The request has failed `counter` times, and began at
 * `startedAt` by the clock of `now()`.
 */
export function decide(
  error: Error,
  counter: number,
  opts: DispatchOptions,
  startedAt: number,
  settings: RetrySettings,
): number {
  if (!isWorthRepeating(error, opts, settings) || counter > settings.maxRetries) return GIVE_UP
  const wait = delayOf(error, counter, settings)
  if (wait === GIVE_UP) return GIVE_UP
  const { deadline, budget } = settings
  if (deadline !== null && now() + wait - startedAt > deadline) return GIVE_UP
  const isFree = counter === 1 && ownField(error, 'retrySafety') === 'safe'
  if (budget !== null && !isFree && !budget.withdraw(originKey(opts, settings.ownOrigin))) {
    note(error, { retryBudget: 'exhausted' })
    return GIVE_UP
  }
  return wait
}

/**
 * Asks a policy of the caller, which may answer at once, later, never, twice, or throw; `null` is for another
 * attempt. Returns what the policy returned, which may be its timer. The answer never comes inside this call:
 * the policy, or the dispatcher that has reported the failure, is not done yet.
 */
export function askPolicy(
  error: Error,
  counter: number,
  opts: DispatchOptions,
  settings: RetrySettings,
  onAnswer: (result: Error | null) => void,
): unknown {
  let isOpen = true
  let isInside = true
  const answer = (result?: Error | null): void => {
    if (!isOpen) return
    isOpen = false
    if (isInside) queueMicrotask(() => onAnswer(result ?? null))
    else onAnswer(result ?? null)
  }
  const context = { state: { counter }, opts: { ...opts, retryOptions: shownRetryOptions(settings) } }
  // A falsy value would mean another attempt.
  const onThrown = (thrown: unknown): void => answer((thrown ?? error) as Error)
  try {
    const returned: unknown = settings.retry!(error, context, answer)
    onRejection(returned, onThrown)
    return returned
  } catch (thrown) {
    onThrown(thrown)
    return null
  } finally {
    isInside = false
  }
}

/** Nothing of the request has left: no one has begun to read its body. */
export function isUnsent(error: unknown): boolean {
  return (ownField(error, 'retrySafety') ?? (errorFacts(error).isUnsent ? 'safe' : 'no')) === 'safe'
}

function isWorthRepeating(error: Error, opts: DispatchOptions, settings: RetrySettings): boolean {
  // An exception in a handler, or an abort with a reason of the caller.
  const code = codeOf(error)
  if (code === null || errorFacts(error).isFinal) return false
  const retrySafety = ownField(error, 'retrySafety')
  if (retrySafety === 'safe') return true
  if (retrySafety === 'no' && !beginsAnew(opts.body)) return false
  if (!isRepeatable(opts, settings)) return false
  const { errorCodes, statusCodes } = settings
  if (isOfStatus(error)) return statusCodes.has(ownField(error, 'statusCode') as number)
  // A lost connection has many codes, and the dispatcher has judged what it means for this request.
  const isLost = retrySafety === 'idempotent-only' && errorFacts(error).fault === 'connection'
  const isLate = isAttemptTimeout(error) || (settings.timeouts && TIME_LIMITS.has(code))
  return isLate || errorCodes.has(code) || (isLost && settings.judgesLoss)
}

function delayOf(error: Error, counter: number, settings: RetrySettings): number {
  const { maxRetryAfter, maxTimeout } = settings
  const asked = settings.retryAfter ? askedDelay(error) : null
  if (asked !== null && maxRetryAfter !== null && asked > maxRetryAfter) return GIVE_UP
  if (asked === null) return Math.min(backoff(counter, settings), LONGEST_DELAY)
  const wait = maxRetryAfter === null ? Math.min(asked, maxTimeout) : asked
  const least = isOpenCircuit(error) ? backoff(counter, settings) : 0
  const added = Math.min(wait * settings.jitter, MAX_ADDED_TO_RETRY_AFTER) * Math.random()
  return Math.min(Math.max(least, wait + added), LONGEST_DELAY)
}

/** What the server, or a circuit breaker, asked for. */
function askedDelay(error: Error): number | null {
  const retryAfter = ownField(error, 'retryAfter')
  if (typeof retryAfter === 'number') return retryAfter
  const headers = ownField(error, 'headers')
  return typeof headers === 'object' && headers !== null ? askedWaitOf(headers as HeaderObject) : null
}

function backoff(counter: number, settings: RetrySettings): number {
  const { minTimeout, maxTimeout, timeoutFactor, jitter } = settings
  const wait = Math.min(minTimeout * timeoutFactor ** (counter - 1), maxTimeout)
  const most = Math.min(wait * (1 + jitter), maxTimeout)
  // At the cap there is no room to add: there the random part is taken off.
  const least = most < maxTimeout ? wait : Math.min(wait, maxTimeout * (1 - jitter))
  return least + (most - least) * Math.random()
}

/** Whoever sets such a limit wants another attempt, whatever codes are repeated. */
function isAttemptTimeout(error: unknown): boolean {
  return ownField(error, 'attemptTimeout') !== null
}

/** Adds fields to an error, unless it cannot have any. */
export function note(error: unknown, fields: object): void {
  if (typeof error !== 'object' || error === null) return
  try {
    Object.assign(error, fields)
  } catch {
    // It is frozen, or a setter of its class threw.
  }
}
