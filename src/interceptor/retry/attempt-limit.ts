/** The time limit of one attempt (`attemptTimeout`): from its dispatch to its final response head. */
import { now } from '../../base/loop/clock.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { HeadersTimeoutError } from '../../errors.ts'
import type { Attempt } from '../../relay/attempt.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'
import { describeUnsent } from '../../request/unsent-error.ts'
import { note } from './policy.ts'

export class AttemptLimit {
  readonly #milliseconds: number
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  get isRunning(): boolean {
    return this.#timer !== null
  }

  begin(attempt: Attempt, opts: DispatchOptions, onTimeout: (error: Error) => void): void {
    this.end()
    const since = now()
    this.#timer = startTimer(() => onTimeout(this.#error(attempt, opts, since)), this.#milliseconds)
  }

  end(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
  }

  #error({ controller, isSent }: Attempt, opts: DispatchOptions, since: number): Error {
    const error = new HeadersTimeoutError(
      `No response head within the attemptTimeout of ${this.#milliseconds} ms`,
    )
    note(error, { attemptTimeout: this.#milliseconds })
    const origin = String(logicalOrigin(opts) ?? '')
    // No connection has it yet: nothing was sent.
    if (controller === null) return describeUnsent(error, opts, origin, 'queued', since)
    return describeUnsent(error, opts, origin, isSent ? 'headers' : 'sending', since, 'idempotent-only')
  }
}
