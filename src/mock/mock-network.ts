/**
 * What a mock agent and its pools share: the interceptors of all origins, access to the network, the call
 * history. Decides for each call between an interceptor, the network and an error.
 */
import type { EventEmitter } from 'node:events'
import { type ConnectionSnapshot, connectionsOfAll } from '../dispatcher/connection-snapshot.ts'
import { emitSafely } from '../dispatcher/events.ts'
import { RequestAbortedError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { FieldsMemory } from '../request/request-fields.ts'
import { RequestSpec } from '../request/request-spec.ts'
import { MockCallHistory } from './history/call-history.ts'
import { LoggingHandler } from './history/logging-handler.ts'
import type { Interception } from './match/interception.ts'
import { MatchRun } from './match/match-run.ts'
import { notMatched } from './match/not-matched.ts'
import type { MockAgentSettings } from './mock-agent-options.ts'
import { MockCall } from './mock-call.ts'
import type { MockNotMatchedError } from './mock-errors.ts'
import { MockOrigins } from './mock-origins.ts'
import { type ExchangeOwner, MockedExchange, mockContext, type RunningMock } from './mocked-exchange.ts'
import { NetConnect } from './net-connect.ts'
import { OriginMocks } from './origin-mocks.ts'
import type { Reply } from './reply/reply.ts'
import { WireClients } from './wire/wire-clients.ts'

/** Errors kept for `unmatched`. */
const MOST_UNMATCHED = 1000

/** Decides about calls that no interceptor replies to, and returns what `dispatch` returns. */
type Fallback = (run: MatchRun) => boolean

/** For unknown origins. No interceptor can be added to these. */
const NO_MOCKS = new OriginMocks('')

/** The member of a mock agent that has its network: its pools and its subclasses need it, programs do not. */
export const NETWORK: unique symbol = Symbol('network')

export class MockNetwork implements ExchangeOwner {
  readonly settings: MockAgentSettings
  readonly wire: WireClients
  readonly origins: MockOrigins = new MockOrigins()
  readonly fields: FieldsMemory = new FieldsMemory()
  readonly netConnect: NetConnect = new NetConnect()
  readonly running: Set<RunningMock> = new Set()
  readonly unmatched: MockNotMatchedError[] = []
  isActive = true
  isLogging: boolean
  history: MockCallHistory | null
  /** Sends them, unless a snapshot agent has replaced it. */
  fallback: Fallback = (run) => this.send(run)
  readonly #owner: EventEmitter
  readonly #real: Dispatching
  /** The handler of the call that the real dispatcher is getting, which `intercept` must leave to it. */
  #passing: DispatchHandler | null = null
  /** Callbacks, each with the test that must turn false first. */
  readonly #waiters = new Map<() => void, () => boolean>()

  constructor(owner: EventEmitter, real: Dispatching, settings: MockAgentSettings) {
    this.#owner = owner
    this.#real = real
    this.settings = settings
    this.wire = new WireClients(settings)
    this.isLogging = settings.enableCallHistory
    this.history = settings.enableCallHistory ? new MockCallHistory() : null
  }

  /** Those of the requests that are sent, and with `wire` those in memory. */
  get openConnections(): ConnectionSnapshot[] {
    return connectionsOfAll([...this.wire.clients, this.#real])
  }

  /** The options have an origin. */
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean {
    const origin = this.origins.keyOf(options.origin!)
    return this.dispatchTo(origin, this.origins.find(origin) ?? NO_MOCKS, options, handler)
  }

  /** `origin` is normalised. */
  dispatchTo(
    origin: string,
    mocks: OriginMocks,
    options: DispatchOptions,
    handler: DispatchHandler,
  ): boolean {
    if (typeof options.path !== 'string' || typeof options.method !== 'string') {
      // Throws the error of the check: these cannot be matched.
      new RequestSpec(options, handler, mockContext(origin, this))
    }
    const call = new MockCall(origin, options, handler, this.settings.acceptNonStandardSearchParameters)
    if (this.isLogging) {
      this.history ??= new MockCallHistory()
      call.log = this.history.record(options.origin ? options : { ...options, origin })
      call.handler = new LoggingHandler(handler, call.log)
    }
    if (!this.isActive) return this.#send(call, call.handler)
    return this.#match(new MatchRun(call, mocks))
  }

  /** For calls made on the real dispatcher itself; null if it is to send them. */
  intercept(options: DispatchOptions, handler: DispatchHandler): boolean | null {
    if (handler === this.#passing || !this.isActive) return null
    const isKnown = this.origins.find(this.origins.keyOf(options.origin!)) !== undefined
    return isKnown ? this.dispatch(options, handler) : null
  }

  #match(run: MatchRun): boolean {
    const { call } = run
    const found = run.advance()
    if (found === 'unread') return this.collect(call, () => this.#match(run))
    if (found === null) return this.fallback(run)
    const { reply } = found
    // A connection sends the body; otherwise the function may read a stream itself.
    const isGivenWhole = this.settings.wire || !call.isPiecemeal
    const reads = 'ask' in reply && reply.readsBody && call.hasUnreadBody && isGivenWhole
    return reads ? this.collect(call, () => this.#reply(run, found)) : this.#reply(run, found)
  }

  #reply({ call, mocks }: MatchRun, interception: Interception): boolean {
    const { reply } = interception
    const isOnWire = reply.kind !== 'error' && (this.settings.wire || !('ask' in reply))
    const exchange = isOnWire ? null : new MockedExchange(call, interception, this)
    mocks.use(interception)
    if (call.log !== null) {
      call.log.matched = true
      call.log.interceptor = interception.describe(mocks.origin)
    }
    if (exchange === null) return this.wire.dispatch(call, interception)
    exchange.run()
    return true
  }

  /** Replies to a call that no interceptor matches, after so many milliseconds. */
  replay(call: MockCall, reply: Reply, delay: number): boolean {
    if (call.log !== null) call.log.matched = true
    new MockedExchange(call, { reply, delay }, this).run()
    return true
  }

  /** Sends a call that no interceptor matches, or throws if the network is not allowed. */
  send(run: MatchRun, handler: DispatchHandler = run.call.handler): boolean {
    const { call } = run
    const refusal = this.netConnect.refusal(call.origin)
    if (refusal === null) return this.#send(call, handler)
    const error = notMatched(run, this.origins.all, refusal)
    if (call.log !== null) call.log.error = error
    if (this.unmatched.length < MOST_UNMATCHED) this.unmatched.push(error)
    emitSafely(this.#owner, 'unmatched', error)
    throw error
  }

  #send({ options, origin }: MockCall, handler: DispatchHandler): boolean {
    const before = this.#passing
    this.#passing = handler
    try {
      return dispatchOn(this.#real, options.origin ? options : { ...options, origin }, handler)
    } finally {
      this.#passing = before
    }
  }

  /** Reads the body, then goes on. Meanwhile the call counts as running. */
  collect(call: MockCall, proceed: () => boolean): boolean {
    const fail = (error: unknown): void => {
      if (!this.running.delete(waiting)) return
      destroyBodyOf(call.given, error)
      this.onIdle()
      try {
        call.handler.onResponseError?.(null, error as Error)
      } catch (thrown) {
        this.onHandlerError(thrown)
      }
    }
    const waiting: RunningMock = { origin: call.origin, end: ({ error }) => fail(error) }
    this.running.add(waiting)
    try {
      call.handler.onRequestQueued?.((reason) => fail(reason || new RequestAbortedError()))
    } catch (error) {
      fail(error)
    }
    const goOn = (): void => {
      if (!this.running.has(waiting)) return
      proceed()
      if (this.running.delete(waiting)) this.onIdle()
    }
    if (this.running.has(waiting)) call.collect().then(goOn).catch(fail)
    return true
  }

  onHandlerError(error: unknown): void {
    emitSafely(this.#owner, 'error', error)
  }

  onIdle(): void {
    for (const [done, isBusy] of [...this.#waiters]) {
      if (!isBusy() && this.#waiters.delete(done)) done()
    }
  }

  /** Calls back as soon as `isBusy` is false: by default, when nothing runs any more. */
  whenIdle(done: () => void, isBusy: () => boolean = () => this.running.size > 0): void {
    this.#waiters.set(done, isBusy)
    this.onIdle()
  }
}
