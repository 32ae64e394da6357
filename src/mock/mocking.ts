/**
 * What `MockPool` and `MockClient` add to their base: interceptors for one origin, and dispatching to them.
 */
import { withoutPollution } from '../base/object/own-options.ts'
import type { Client } from '../dispatcher/client.ts'
import type { ConnectionSnapshot } from '../dispatcher/connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { closeAll, destroyAll } from '../dispatcher/end-all.ts'
import type { Pool } from '../dispatcher/pool/pool.ts'
import { InvalidArgumentError } from '../errors.ts'
import { toDispatchHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { isCall } from '../request/dispatching.ts'
import type { EndReason } from '../request/end-reason.ts'
import { definitionSite } from './match/definition-site.ts'
import { type MockInterceptorOptions, type OriginMatcher, readPattern } from './match/interception.ts'
import { readMockAgentOptions } from './mock-agent-options.ts'
import { MockNotMatchedError } from './mock-errors.ts'
import { MockInterceptor } from './mock-interceptor.ts'
import { MockNetwork, NETWORK } from './mock-network.ts'
import { originKey } from './mock-origins.ts'
import type { RunningMock } from './mocked-exchange.ts'
import { OriginMocks } from './origin-mocks.ts'
import { BadReplyError } from './reply/reply.ts'

/** The origin of a pool whose origins are a RegExp or a function. */
const ANY_ORIGIN = 'http://localhost:9999'

type MockedOrigin = OriginMatcher | URL

/** What `get()` of a mock agent returns. */
export interface Interceptable extends Dispatcher {
  /** Defines what is to be intercepted; `reply()` of the result defines the reply. */
  intercept(options: MockInterceptorOptions): MockInterceptor
  /** Removes all interceptors. */
  cleanMocks(): void
}

/** A class of dispatchers with interceptors. `mocks` is for mock agents. */
export type Mocking<D, O> = new (
  origin: MockedOrigin,
  options: O & { agent: Dispatcher },
  mocks?: OriginMocks | null,
) => D & Interceptable

export function mocking<D extends Client | Pool, O>(
  base: new (url: string | URL, options?: O) => D,
): Mocking<D, O> {
  // Both classes have the members that are used here.
  class Mock extends (base as unknown as typeof Client) implements Interceptable {
    readonly #network: MockNetwork
    readonly #mocks: OriginMocks
    readonly #key: string

    constructor(origin: MockedOrigin, options: { agent: Dispatcher }, mocks: OriginMocks | null = null) {
      const { agent, ...rest } = options ?? {}
      if (typeof (agent as Partial<Dispatcher> | null | undefined)?.dispatch !== 'function') {
        throw new InvalidArgumentError('Argument opts.agent must implement Agent')
      }
      const isOne = typeof origin === 'string' || origin instanceof URL
      const url = isOne ? origin : ANY_ORIGIN
      super(url, rest)
      const { [NETWORK]: network } = agent as { readonly [NETWORK]?: MockNetwork }
      this.#network = network ?? new MockNetwork(agent, agent, readMockAgentOptions({}))
      this.#key = originKey(url)
      this.#mocks = mocks ?? new OriginMocks(isOne ? this.#key : origin)
    }

    intercept(options: MockInterceptorOptions): MockInterceptor {
      const site = definitionSite(Mock.prototype.intercept)
      const pattern = readPattern(options, this.#network.settings.ignoreTrailingSlash, site)
      return new MockInterceptor(pattern, this.#mocks)
    }

    cleanMocks(): void {
      this.#mocks.clear()
    }

    /** Throws for an unmatched request or an invalid reply; all other failures go to the handler. */
    override dispatch(given: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
      if (!isCall(given, handler) || this.closed || this.destroyed) return super.dispatch(given, handler)
      const current = toDispatchHandler(handler)
      try {
        const options = withoutPollution(given)
        // In a pool for many origins, each request names its own.
        const isOwn = !options.origin || typeof this.#mocks.origin === 'string'
        const origin = isOwn ? this.#key : originKey(options.origin!)
        return this.#network.dispatchTo(origin, this.#mocks, options, current)
      } catch (error) {
        if (error instanceof MockNotMatchedError || error instanceof BadReplyError) throw error
        if (typeof current.onResponseError !== 'function') throw error
        current.onResponseError(null, error as Error)
        return false
      }
    }

    /** Those of the agent to the origins of these interceptors. */
    override connections(): ConnectionSnapshot[] {
      const { openConnections, origins } = this.#network
      return openConnections.filter(
        ({ origin }) => origin === this.#key || origins.find(origin) === this.#mocks,
      )
    }

    protected override finish(done: () => void): void {
      const { running, clients } = this.#forget()
      const isBusy = (): boolean => running.some((request) => this.#network.running.has(request))
      const finish = (): void => super.finish(done)
      this.#network.whenIdle(() => closeAll(clients, finish), isBusy)
    }

    protected override terminate(reason: EndReason, done: () => void): void {
      const { running, clients } = this.#forget()
      for (const request of running) request.end(reason)
      destroyAll(clients, reason, () => super.terminate(reason, done))
    }

    /** Removes the interceptors from the agent. Returns what is left to end. */
    #forget(): { readonly running: readonly RunningMock[]; readonly clients: readonly Client[] } {
      const { origins, running, wire } = this.#network
      this.#mocks.clear()
      const own = origins.forget(this.#mocks).add(this.#key)
      return { running: [...running].filter(({ origin }) => own.has(origin)), clients: wire.release(own) }
    }
  }
  return Mock as unknown as Mocking<D, O>
}
