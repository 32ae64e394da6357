/**
 * One request whose host is a name: resolving → attempting, once for each address that cannot be reached → started → over.
 * Only a request that never started goes to another address.
 */
import type { Duplex } from 'node:stream'
import { type CallContext, captureContext, runIn } from '../../base/call-context.ts'
import { now } from '../../base/clock.ts'
import { withoutPollution } from '../../base/own-options.ts'
import type { Dispatch } from '../../dispatcher/compose.ts'
import { InformationalError, RequestAbortedError, type RequestErrorContext } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { codeOf } from '../../relay/error-facts.ts'
import { replayOf } from '../../relay/replay.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { describeError, shownPath } from '../../request/error-context.ts'
import { replaceOrigin } from '../../request/logical-origin.ts'
import { watchBody } from '../../request/waiting-body.ts'
import type { Destination } from './destination.ts'
import type { DnsRecords } from './records.ts'
import type { DnsResolver, Waiter } from './resolver.ts'

type AbortFunction = (reason?: unknown) => void

type State =
  | { readonly at: 'resolving' }
  | { readonly at: 'attempting'; readonly entry: DnsRecords; readonly target: string }
  | { readonly at: 'started' }
  | { readonly at: 'over' }

const RESOLVING: State = { at: 'resolving' }
const STARTED: State = { at: 'started' }
const OVER: State = { at: 'over' }

export class ResolvedRequest extends ForwardingHandler implements Waiter {
  readonly #dispatch: Dispatch
  readonly #resolver: DnsResolver
  readonly #destination: Destination
  readonly #opts: DispatchOptions
  /** False if the dispatcher connects by itself, wherever a request is meant to go. */
  readonly #hasChoice: boolean
  readonly #queued: number = now()
  readonly #callContext: CallContext | null = captureContext()
  #state: State = RESOLVING
  #accepted = true
  #announced = false
  #abortion: { readonly reason: unknown } | null = null
  #abortAttempt: AbortFunction | null = null
  /** Ends listening to the body, which nothing else does while the name is looked up. */
  #unwatch: (() => void) | null = null
  #tried: Set<string> | null = null

  /** `opts` is a copy. */
  constructor(
    opts: DispatchOptions,
    handler: DispatchHandler,
    dispatch: Dispatch,
    resolver: DnsResolver,
    destination: Destination,
    hasChoice: boolean,
  ) {
    super(handler)
    this.#opts = opts
    this.#dispatch = dispatch
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
    if (entry !== null) this.#send(entry, null)
    else {
      this.#resolver.lookUp(this.#destination, this)
      if (this.#state === RESOLVING) this.#announceWaiting()
    }
    return this.#accepted
  }

  #announceWaiting(): void {
    try {
      this.#unwatch = watchBody(this.#opts.body, (error) => this.#abort(error))
      this.#announce()
    } catch (error) {
      this.#resolver.leave(this.#destination, this)
      this.#fail(error as Error)
    }
  }

  #announce(): void {
    if (this.#announced) return
    this.#announced = true
    this.inner.onRequestQueued?.((reason) => this.#abort(reason))
  }

  #abort(reason: unknown): void {
    if (this.#state === OVER || this.#abortion !== null) return
    this.#abortion = { reason }
    if (this.#state === RESOLVING) {
      this.#resolver.leave(this.#destination, this)
      this.#fail((reason ?? new RequestAbortedError()) as Error)
    } else this.#abortAttempt?.(reason)
  }

  onRecords(entry: DnsRecords | null): void {
    if (this.#state !== RESOLVING) return
    this.#settleQuietly(() => (entry === null ? this.#failUnknown() : this.#send(entry, null)))
  }

  onLookupError(error: Error): void {
    if (this.#state !== RESOLVING) return
    this.#settleQuietly(() => this.#fail(this.#resolver.isForeign ? error : this.#described(error)))
  }

  /** The caller of a lookup's callback has nothing to do with this request: a handler that throws must not reach it. */
  #settleQuietly(step: () => void): void {
    try {
      runIn(this.#callContext, step, null)
    } catch {
      // It has thrown in its final call, so it knows of the end.
    }
  }

  /** Nothing was sent. */
  #described(error: Error): Error {
    const { method, path } = this.#opts
    const end = now()
    const context: RequestErrorContext = {
      method,
      origin: this.#destination.origin,
      path: shownPath(String(path)),
      phase: 'connecting',
      reusedSocket: false,
      retrySafety: 'safe',
      timings: { queued: this.#queued, connect: null, secured: null, sent: null, firstByte: null, end },
      socket: null,
    }
    return describeError(error, context)
  }

  /** `failure` is that of the address before. */
  #send(entry: DnsRecords, failure: Error | null): void {
    try {
      const target = this.#resolver.choose(this.#destination, entry, this.#tried)
      if (target === null) {
        if (failure === null) this.#failUnknown()
        else this.#fail(failure)
        return
      }
      this.#unwatch?.()
      this.#unwatch = null
      this.#state = { at: 'attempting', entry, target }
      this.#abortAttempt = null
      this.#accepted = this.#dispatch(this.#optionsFor(target), this)
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #optionsFor(sent: string): DispatchOptions {
    const { origin: logical, hostname: name } = this.#destination
    return replaceOrigin(withoutPollution({ ...this.#opts }), { logical, name, sent })
  }

  protected override forwardQueued(abort: AbortFunction): void {
    this.#abortAttempt = abort
    if (this.#abortion !== null) abort(this.#abortion.reason)
    else this.#announce()
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    if (this.#state.at === 'attempting') {
      if (this.#hasChoice) this.#resolver.onReached(this.#destination, this.#state.target)
      this.#state = STARTED
    }
    if (this.#abortion !== null) controller.abort(this.#abortion.reason)
    else super.onRequestStart(controller, context)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#state = OVER
    this.forwardEnd(controller, trailers)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#state = OVER
    super.onRequestUpgrade(controller, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    const state = this.#state
    if (state === OVER) return
    const isUnreached = state.at === 'attempting' && this.#hasChoice && isConnectError(error)
    this.#note(state, error, isUnreached)
    if (isUnreached && this.#abortion === null && replayOf(this.#opts.body) !== 'spent') {
      this.#tried ??= new Set()
      this.#tried.add(state.target)
      this.#send(state.entry, error)
      return
    }
    this.#state = OVER
    super.onResponseError(controller, error)
  }

  #note(state: State, error: Error, isUnreached: boolean): void {
    try {
      if (isUnreached && state.at === 'attempting') this.#resolver.rest(this.#destination, state.target)
      if (codeOf(error) === 'ENOTFOUND') this.#resolver.forget(this.#destination)
    } catch {
      // A storage that fails has no say in what the caller gets.
    }
  }

  #failUnknown(): void {
    this.#fail(this.#described(new InformationalError('No DNS entries found')))
  }

  #fail(error: Error): void {
    if (this.#state === OVER) return
    this.#state = OVER
    this.#accepted = false
    this.#unwatch?.()
    runIn(this.#callContext, this.#tellFailure, this, error)
  }

  #tellFailure(error: Error): void {
    destroyBodyOf(this.#opts, error)
    this.inner.onResponseError?.(null, error)
  }
}

/** No byte of the request can have been sent. Errors of other dispatchers do not say so. */
function isConnectError(error: unknown): boolean {
  const { phase, retrySafety } = (error ?? {}) as Partial<RequestErrorContext>
  return phase === 'connecting' && retrySafety === 'safe'
}
