/** What `MockPool` and `MockClient` share: interceptors for one origin, and dispatching to them. */
import type { EventEmitter } from 'node:events'
import { withoutPollution } from '../base/object/own-options.ts'
import type { Client } from '../dispatcher/client.ts'
import { endAll } from '../dispatcher/end-all.ts'
import { InvalidArgumentError } from '../errors.ts'
import { toDispatchHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { EndReason } from '../request/end-reason.ts'
import { definitionSite } from './match/definition-site.ts'
import { type MockInterceptorOptions, type OriginMatcher, readPattern } from './match/interception.ts'
import { readMockAgentOptions } from './mock-agent-options.ts'
import { MockNotMatchedError } from './mock-errors.ts'
import { MockInterceptor } from './mock-interceptor.ts'
import { MockNetwork, networkOf } from './mock-network.ts'
import { type MockPlace, originKey } from './mock-origins.ts'
import type { RunningMock } from './mocked-exchange.ts'
import { OriginMocks } from './origin-mocks.ts'
import { isBadReply } from './reply/reply.ts'

/** The origin of a pool whose origins are a RegExp or a function. */
const ANY_ORIGIN = 'http://localhost:9999'

/** An origin that a pool can be made for. */
export function urlFor(origin: OriginMatcher | URL): string | URL {
  return typeof origin === 'string' || origin instanceof URL ? origin : ANY_ORIGIN
}

export class MockTarget {
  readonly #network: MockNetwork
  readonly #mocks: OriginMocks
  readonly #place: MockPlace

  constructor(origin: OriginMatcher | URL, agent: unknown, mocks: OriginMocks | null) {
    if (typeof (agent as Partial<Dispatching> | null | undefined)?.dispatch !== 'function') {
      throw new InvalidArgumentError('Argument opts.agent must implement Agent')
    }
    const dispatcher = agent as Dispatching & EventEmitter
    this.#network = networkOf(dispatcher) ?? new MockNetwork(dispatcher, dispatcher, readMockAgentOptions({}))
    const key = originKey(urlFor(origin))
    this.#mocks = mocks ?? new OriginMocks(typeof origin === 'string' || origin instanceof URL ? key : origin)
    this.#place = this.#network.origins.unknown(key, this.#mocks)
  }

  intercept(options: MockInterceptorOptions, above: (...args: never[]) => unknown): MockInterceptor {
    const { ignoreTrailingSlash } = this.#network.settings
    const pattern = readPattern(options, ignoreTrailingSlash, definitionSite(above))
    return new MockInterceptor(pattern, this.#mocks)
  }

  cleanMocks(): void {
    this.#mocks.clear()
  }

  /** Throws for an unmatched request or an invalid reply; all other failures go to the handler. */
  dispatch(given: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    const current = toDispatchHandler(handler)
    try {
      const options = withoutPollution(given)
      return this.#network.dispatchAt(this.#placeOf(options.origin), options, current)
    } catch (error) {
      if (error instanceof MockNotMatchedError || isBadReply(error)) throw error
      if (typeof current.onResponseError !== 'function') throw error
      current.onResponseError(null, error as Error)
      return false
    }
  }

  /** In a pool for many origins, each request names its own. */
  #placeOf(origin: string | URL | undefined): MockPlace {
    if (!origin || typeof this.#mocks.origin === 'string') return this.#place
    return this.#network.origins.unknown(origin, this.#mocks)
  }

  /** Removes the interceptors from the agent. Calls back when running requests have ended. */
  finish(done: () => void): void {
    const { running, clients } = this.#forget()
    const isBusy = (): boolean => running.some((request) => this.#network.running.has(request))
    this.#network.whenIdle(() => endAll(clients, (client, ended) => client.close(ended), done), isBusy)
  }

  /** The same, but fails the requests. */
  terminate(reason: EndReason, done: () => void): void {
    const { running, clients } = this.#forget()
    for (const request of running) request.end(reason)
    const error = reason.isCallers ? reason.error : null
    endAll(clients, (client, ended) => client.destroy(error, ended), done)
  }

  #forget(): { readonly running: readonly RunningMock[]; readonly clients: readonly Client[] } {
    const { origins, running, wire } = this.#network
    this.#mocks.clear()
    const own = origins.forget(this.#mocks).add(this.#place.context.origin)
    return { running: [...running].filter(({ origin }) => own.has(origin)), clients: wire.release(own) }
  }
}
