/** Asks a policy of the caller, which may answer at once, later, never, twice, or throw. */
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { type RetrySettings, shownRetryOptions } from './options.ts'

/** What became of the question. `null` for another attempt. */
export type OnAnswer = (result: Error | null) => void

/**
 * Returns what the policy returned, which may be its timer. The answer never comes inside this call: the policy, or the
 * dispatcher that has reported the failure, is not done yet.
 */
export function askPolicy(
  error: Error,
  counter: number,
  opts: DispatchOptions,
  settings: RetrySettings,
  onAnswer: OnAnswer,
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
    // An asynchronous policy rejects where another one throws.
    if (returned instanceof Promise) returned.catch(onThrown)
    return returned
  } catch (thrown) {
    onThrown(thrown)
    return null
  } finally {
    isInside = false
  }
}
