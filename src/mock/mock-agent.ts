/** The mock agent: interceptors reply to its requests, and those that match none are sent, or fail. */

import { inCall } from '../base/error/public-call.ts'
import { defineKind } from '../base/object/kind.ts'
import { Agent, mockAgentRequests } from '../dispatcher/agent.ts'
import type { ConnectionSnapshot } from '../dispatcher/connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { closeAll, destroyAll, retireAll } from '../dispatcher/end-all.ts'
import { LifecycleDispatcher } from '../dispatcher/lifecycle.ts'
import { reemitConnections } from '../dispatcher/reemit.ts'
import { InvalidArgumentError, UndiciError } from '../errors.ts'
import { replaceGlobalDispatcher } from '../global/global-dispatcher.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { EndReason } from '../request/end-reason.ts'
import type { MockCallHistory } from './history/call-history.ts'
import { definitionSite } from './match/definition-site.ts'
import {
  type MockInterceptorOptions,
  type OriginMatcher,
  type PendingInterceptor,
  readPattern,
} from './match/interception.ts'
import { type AssertPendingOptions, pendingMessage } from './match/pending-table.ts'
import { readRoute } from './match/route.ts'
import { type MockAgentOptions, readMockAgentOptions } from './mock-agent-options.ts'
import { MockClient } from './mock-client.ts'
import type { MockNotMatchedError } from './mock-errors.ts'
import { MockInterceptor } from './mock-interceptor.ts'
import { MockNetwork, NETWORK } from './mock-network.ts'
import { MockPool } from './mock-pool.ts'
import type { Interceptable } from './mocking.ts'
import type { OriginMocks } from './origin-mocks.ts'
import type { WireConnection } from './wire/wire-clients.ts'

/**
 * Replies to requests without a server.
 *
 * @example
 * const agent = new MockAgent()
 * agent.disableNetConnect()
 * agent.get('http://api.test').intercept({ path: '/users/1' }).reply(200, { name: 'Ada' })
 * const { body } = await agent.request({ origin: 'http://api.test', path: '/users/1', method: 'GET' })
 */
export class MockAgent<_TOptions extends MockAgentOptions = MockAgentOptions> extends LifecycleDispatcher {
  readonly #network: MockNetwork
  /** Carries the requests that are sent. */
  readonly #real: Dispatcher
  readonly #pools = new Map<OriginMocks, MockPool | MockClient>()
  #uninstall: (() => void) | null = null

  constructor(options: MockAgentOptions = {}) {
    const settings = inCall(MockAgent, () => readMockAgentOptions(options))
    const real = settings.agent ?? new Agent(settings.agentOptions)
    const { webSocketOptions, eventSourceOptions } = real as Partial<LifecycleDispatcher>
    super(webSocketOptions ?? settings.agentOptions.webSocket, eventSourceOptions)
    this.#real = real
    this.#network = new MockNetwork(this, real, settings)
    mockAgentRequests(real, (call, handler) => this.#network.intercept(call, handler))
    reemitConnections(this, real)
  }

  /**
   * The interceptors of an origin, or of all origins that a RegExp or function accepts; the same object each
   * time.
   */
  get<T extends Interceptable = MockPool>(origin: string | URL | RegExp | ((origin: string) => boolean)): T {
    const mocks = this.#network.origins.open(origin as OriginMatcher)
    let pool = this.#pools.get(mocks)
    if (pool === undefined || pool.closed || pool.destroyed) {
      const { poolOptions } = this.#network.settings
      const Mock = poolOptions.connections === 1 ? MockClient : MockPool
      pool = new Mock(origin, { ...poolOptions, agent: this }, mocks)
      this.#pools.set(mocks, pool)
    }
    return pool as unknown as T
  }

  /**
   * Defines an interceptor by method and URL; parts such as `:id` match anything but a slash, and reply
   * functions get them as `opts.params`.
   *
   * @example
   * agent.intercept('POST https://api.test/users/:id').reply(200, ({ params }) => ({ id: params.id }))
   */
  intercept(route: string, options: Omit<MockInterceptorOptions, 'path' | 'method'> = {}): MockInterceptor {
    const { method, origin, path, named } = readRoute(route)
    const { ignoreTrailingSlash } = this.#network.settings
    const site = definitionSite(MockAgent.prototype.intercept)
    const pattern = readPattern({ ...options, path, method }, ignoreTrailingSlash, site, named)
    return new MockInterceptor(pattern, this.#network.origins.open(origin))
  }

  /** Replies again, after `deactivate()`. */
  activate(): void {
    this.#network.isActive = true
  }

  /** Sends every request, whatever `disableNetConnect()` says. */
  deactivate(): void {
    this.#network.isActive = false
  }

  /** False after `deactivate()`. */
  get isMockActive(): boolean {
    return this.#network.isActive
  }

  /** Sends requests that match nothing: all, or those to matching hosts. Several matchers add up. */
  enableNetConnect(matcher?: string | RegExp | ((host: string) => boolean)): void {
    this.#network.netConnect.enable(matcher)
  }

  /** Fails requests that match nothing. */
  disableNetConnect(): void {
    this.#network.netConnect.disable()
  }

  /** Undefined until the first call is logged, unless `enableCallHistory` was set. */
  getCallHistory(): MockCallHistory | undefined {
    return this.#network.history ?? undefined
  }

  /** Forgets the calls so far. */
  clearCallHistory(): void {
    this.#network.history?.clear()
  }

  /** Logs calls from now on. */
  enableCallHistory(): this {
    this.#network.isLogging = true
    return this
  }

  /** Logs no more calls. */
  disableCallHistory(): this {
    this.#network.isLogging = false
    return this
  }

  /** The interceptors that have replied less often than they should. */
  pendingInterceptors(): PendingInterceptor[] {
    return this.#network.origins.all.flatMap(({ origin, all }) =>
      all.filter(({ pending }) => pending).map((interception) => interception.describe(origin)),
    )
  }

  /** Throws if an interceptor has replied less often than it should, with a table of them. */
  assertNoPendingInterceptors(options?: AssertPendingOptions): void {
    const pending = this.pendingInterceptors()
    if (pending.length > 0) throw new UndiciError(pendingMessage(pending, options))
  }

  /** The errors of requests that matched nothing, also if the program ignored them. */
  get unmatched(): readonly MockNotMatchedError[] {
    return [...this.#network.unmatched]
  }

  /** Throws if a request matched nothing, also if the program ignored its error. */
  assertNoUnmatched(): void {
    const { unmatched } = this.#network
    if (unmatched.length === 0) return
    const count = unmatched.length === 1 ? '1 request' : `${unmatched.length} requests`
    const list = unmatched.map(({ message }) => message).join('\n\n')
    throw new UndiciError(`${count} matched no interceptor:\n\n${list}`)
  }

  /** The connections in memory, with all bytes that were written to them. */
  get wire(): WireConnection[] {
    return this.#network.wire.connections
  }

  /** Removes everything that a test may have left: interceptors, calls, unmatched requests, host matchers. */
  reset(): void {
    this.#network.origins.reset()
    this.#network.netConnect.enable()
    this.#network.history?.clear()
    this.#network.unmatched.length = 0
    this.#network.wire.clear()
    this.#network.isActive = true
  }

  /**
   * Makes this the global dispatcher, also for the runtime's `fetch`, until `uninstall()` or the end of the
   * agent.
   */
  install(): this {
    this.#uninstall ??= replaceGlobalDispatcher(this)
    return this
  }

  /** Makes the former dispatcher the global one again. */
  uninstall(): this {
    this.#uninstall?.()
    this.#uninstall = null
    return this
  }

  /** Closes the agent. With `strict`, fails if an interceptor is pending or a request matched nothing. */
  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.#network.settings.strict) return
      this.assertNoUnmatched()
      this.assertNoPendingInterceptors()
    } finally {
      await this.destroy()
    }
  }

  /** @internal */
  get [NETWORK](): MockNetwork {
    return this.#network
  }

  /** Those of the requests that are sent, and with `wire` those in memory. */
  override connections(): ConnectionSnapshot[] {
    return this.#network.openConnections
  }

  override retire(): void {
    retireAll([this.#real])
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    const { origin } = options
    if (!origin || (typeof origin !== 'string' && !(origin instanceof URL))) {
      throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
    }
    return this.#network.dispatch(options, handler)
  }

  protected override get needsDrain(): boolean {
    return (this.#real as { needsDrain?: unknown }).needsDrain === true
  }

  protected override finish(done: () => void): void {
    this.#leave()
    this.#network.whenIdle(() => closeAll(this.#takeAll(), done))
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#leave()
    for (const exchange of [...this.#network.running]) exchange.end(reason)
    destroyAll(this.#takeAll(), reason, done)
  }

  #leave(): void {
    this.uninstall()
    this.clearCallHistory()
  }

  /** The dispatchers that this one is made of, to be ended. */
  #takeAll(): Dispatcher[] {
    const all = [...this.#pools.values(), ...this.#network.wire.clients, this.#real]
    this.#pools.clear()
    return all
  }
}
defineKind(MockAgent, 'ventuno.MockAgent')

/** The types under the names that programs written for undici use. */
export declare namespace MockAgent {
  export type { MockAgentOptions as Options, PendingInterceptor }

  export type PendingInterceptorsFormatter = NonNullable<AssertPendingOptions['pendingInterceptorsFormatter']>
}
