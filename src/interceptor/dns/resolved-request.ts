/**
 * One request whose host is a name: resolving → attempting, once for each address that cannot be reached →
 * started. Only a request that never started goes to another address.
 */
import { now } from '../../base/loop/clock.ts'
import { withoutPollution } from '../../base/object/own-options.ts'
import { InformationalError } from '../../errors.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { isUnknownName, ownField } from '../../relay/error-facts.ts'
import { HeldCall } from '../../relay/held-call.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
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

export interface NamedTarget {
  readonly resolver: DnsResolver
  readonly destination: Destination
  /** False if the dispatcher connects by itself, wherever a request is meant to go. */
  readonly hasChoice: boolean
}

/** The options are a copy. */
export class ResolvedRequest extends RelayedRequest<NamedTarget> {
  readonly #queued: number = now()
  #state: HeldCall | Trial | 'started' = 'started'
  /** What `dispatch()` returns: a lookup may call back within it. */
  #accepted = true
  #tried: Set<string> | null = null

  start(): boolean {
    let entry: DnsRecords | null
    try {
      entry = this.settings.resolver.find(this.settings.destination)
    } catch (error) {
      this.#fail(error as Error)
      return false
    }
    if (entry !== null) this.#sendTo(entry, null)
    else {
      const leave = (): void => this.settings.resolver.leave(this.settings.destination, this.#onLookup)
      const call = new HeldCall(this.opts, this.downstream, this.call.held, leave)
      this.#state = call
      this.settings.resolver.lookUp(this.settings.destination, this.#onLookup)
      if (this.#state === call) this.downstream.announce()
    }
    return this.#accepted
  }

  readonly #onLookup: Waiter = (error, entry) => {
    if (!(this.#state instanceof HeldCall && this.#state.release())) return
    // What the handler throws must not reach whoever calls the callback of a lookup.
    this.downstream.contain(() => {
      if (error) this.#fail(this.settings.resolver.isForeign ? error : this.#described(error))
      else if (entry === null) this.#failUnknown()
      else this.#sendTo(entry, null)
    })
  }

  #described(error: Error): Error {
    return describeUnsent(error, this.opts, this.settings.destination.origin, 'connecting', this.#queued)
  }

  /** `failure` is that of the address before. */
  #sendTo(entry: DnsRecords, failure: Error | null): void {
    try {
      const target = this.settings.resolver.choose(this.settings.destination, entry, this.#tried)
      if (target === null) {
        if (failure === null) this.#failUnknown()
        else this.#fail(failure)
        return
      }
      this.#state = { entry, target }
      const { origin: logical, hostname: name } = this.settings.destination
      const opts = withoutPollution({ ...this.opts })
      this.#accepted = this.send(replaceOrigin(opts, { logical, name, sent: target }))
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  override onStarted(attempt: Attempt, context: unknown): void {
    const state = this.#state
    this.#state = 'started'
    if (typeof state === 'object' && 'target' in state && this.settings.hasChoice) {
      this.settings.resolver.onTried(this.settings.destination, state.target, true)
    }
    super.onStarted(attempt, context)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    const state = this.#state
    const trial = typeof state === 'object' && 'target' in state ? state : null
    const unreached = this.settings.hasChoice && isConnectError(error) ? trial : null
    if (this.downstream.isWanted) this.#note(unreached, error)
    if (unreached !== null && this.downstream.isWanted && replayOf(this.opts.body) !== 'spent') {
      this.#tried ??= new Set()
      this.#tried.add(unreached.target)
      this.#sendTo(unreached.entry, error)
    } else super.onFailed(attempt, error)
  }

  #note(unreached: Trial | null, error: Error): void {
    try {
      if (unreached !== null)
        this.settings.resolver.onTried(this.settings.destination, unreached.target, false)
      if (isUnknownName(error)) this.settings.resolver.forget(this.settings.destination)
    } catch {
      // A storage that fails must not change what the caller gets.
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
