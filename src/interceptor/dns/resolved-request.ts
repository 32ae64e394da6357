/**
 * One request whose host is a name: resolving → attempting, once for each address that cannot be reached →
 * started. Only a request that never started goes to another address.
 */
import { now } from '../../base/loop/clock.ts'
import { withoutPollution } from '../../base/object/own-options.ts'
import { InformationalError } from '../../errors.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { codeOf, ownField } from '../../relay/error-facts.ts'
import { HeldCall } from '../../relay/held-call.ts'
import { type Call, RelayedRequest } from '../../relay/relayed-request.ts'
import { replayOf } from '../../relay/replay.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import { replaceOrigin } from '../../request/logical-origin.ts'
import { describeUnsent } from '../../request/unsent-error.ts'
import type { Destination } from './destination.ts'
import type { DnsRecords } from './records.ts'
import type { DnsResolver, Waiter } from './resolver.ts'

/** The address of an attempt that has not started, and where it is from. */
interface Trial {
  readonly entry: DnsRecords
  readonly target: string
}

export class ResolvedRequest extends RelayedRequest implements Waiter {
  readonly #resolver: DnsResolver
  readonly #destination: Destination
  /** False if the dispatcher connects by itself, wherever a request is meant to go. */
  readonly #hasChoice: boolean
  readonly #queued: number = now()
  #state: HeldCall | Trial | 'started' = 'started'
  /** What `dispatch()` returns: a lookup may call back within it. */
  #accepted = true
  #tried: Set<string> | null = null

  /** The options are a copy. */
  constructor(call: Call, resolver: DnsResolver, destination: Destination, hasChoice: boolean) {
    super(call)
    this.#resolver = resolver
    this.#destination = destination
    this.#hasChoice = hasChoice
  }

  start(): boolean {
    let entry: DnsRecords | null
    try {
      entry = this.#resolver.find(this.#destination)
    } catch (error) {
      this.#fail(error as Error)
      return false
    }
    if (entry !== null) this.#sendTo(entry, null)
    else {
      const leave = (): void => this.#resolver.leave(this.#destination, this)
      const call = new HeldCall(this.opts, this.downstream, this.held, leave)
      this.#state = call
      this.#resolver.lookUp(this.#destination, this)
      if (this.#state === call) this.downstream.announce()
    }
    return this.#accepted
  }

  onRecords(entry: DnsRecords | null): void {
    this.#goOn(() => (entry === null ? this.#failUnknown() : this.#sendTo(entry, null)))
  }

  onLookupError(error: Error): void {
    this.#goOn(() => this.#fail(this.#resolver.isForeign ? error : this.#described(error)))
  }

  /**
   * The caller of a lookup's callback has nothing to do with this request: a handler that throws must not
   * reach it.
   */
  #goOn(step: () => void): void {
    if (this.#state instanceof HeldCall && this.#state.release()) this.downstream.contain(step)
  }

  #described(error: Error): Error {
    return describeUnsent(error, this.opts, this.#destination.origin, 'connecting', this.#queued)
  }

  /** `failure` is that of the address before. */
  #sendTo(entry: DnsRecords, failure: Error | null): void {
    try {
      const target = this.#resolver.choose(this.#destination, entry, this.#tried)
      if (target === null) {
        if (failure === null) this.#failUnknown()
        else this.#fail(failure)
        return
      }
      this.#state = { entry, target }
      const { origin: logical, hostname: name } = this.#destination
      const opts = withoutPollution({ ...this.opts })
      this.#accepted = this.send(replaceOrigin(opts, { logical, name, sent: target }))
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  override onStarted(attempt: Attempt, context: unknown): void {
    const state = this.#state
    this.#state = 'started'
    if (typeof state === 'object' && 'target' in state && this.#hasChoice) {
      this.#resolver.onReached(this.#destination, state.target)
    }
    super.onStarted(attempt, context)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    const state = this.#state
    const trial = typeof state === 'object' && 'target' in state ? state : null
    const unreached = this.#hasChoice && isConnectError(error) ? trial : null
    this.#note(unreached, error)
    if (unreached !== null && !this.downstream.aborted && replayOf(this.opts.body) !== 'spent') {
      this.#tried ??= new Set()
      this.#tried.add(unreached.target)
      this.#sendTo(unreached.entry, error)
    } else super.onFailed(attempt, error)
  }

  #note(unreached: Trial | null, error: Error): void {
    try {
      if (unreached !== null) this.#resolver.onUnreached(this.#destination, unreached.target)
      if (codeOf(error) === 'ENOTFOUND') this.#resolver.forget(this.#destination)
    } catch {
      // A storage that fails has no say in what the caller gets.
    }
  }

  #failUnknown(): void {
    this.#fail(this.#described(new InformationalError('No DNS entries found')))
  }

  #fail(error: Error): void {
    this.#accepted = false
    destroyBodyOf(this.opts, error)
    this.downstream.fail(error)
  }
}

/** No byte of the request can have been sent. Errors of other dispatchers do not say so. */
function isConnectError(error: unknown): boolean {
  return ownField(error, 'phase') === 'connecting' && ownField(error, 'retrySafety') === 'safe'
}
