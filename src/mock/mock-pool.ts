/** A pool whose requests interceptors reply to. */
import { defineKind } from '../base/object/kind.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import type { PoolOptions } from '../dispatcher/pool/options.ts'
import { Pool } from '../dispatcher/pool/pool.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { isCall } from '../request/dispatching.ts'
import type { EndReason } from '../request/end-reason.ts'
import type { MockInterceptorOptions, OriginMatcher } from './match/interception.ts'
import type { MockInterceptor } from './mock-interceptor.ts'
import { MockTarget, urlFor } from './mock-target.ts'
import type { OriginMocks } from './origin-mocks.ts'

/** Options of `MockPool`. */
export interface MockPoolOptions extends PoolOptions {
  /** The mock agent that decides about requests without a match. */
  agent: Dispatcher
}

/** What `get()` of a mock agent returns. */
export interface Interceptable extends Dispatcher {
  /** Defines what is to be intercepted; `reply()` of the result defines the reply. */
  intercept(options: MockInterceptorOptions): MockInterceptor
  /** Removes all interceptors. */
  cleanMocks(): void
}

/**
 * The interceptors of one origin, and a dispatcher for requests to it.
 *
 * @example
 * const pool = new MockAgent().get('http://api.test')
 * pool.intercept({ path: '/' }).reply(200, 'hello')
 */
export class MockPool extends Pool implements Interceptable {
  readonly #target: MockTarget

  /** `mocks` is for mock agents. */
  constructor(
    origin: string | URL | RegExp | ((origin: string) => boolean),
    options: MockPoolOptions,
    mocks: OriginMocks | null = null,
  ) {
    const { agent, ...rest } = options ?? {}
    const target = new MockTarget(origin as OriginMatcher, agent, mocks)
    super(urlFor(origin), rest)
    this.#target = target
  }

  /** Defines what is to be intercepted; `reply()` of the result defines the reply. */
  intercept(options: MockInterceptorOptions): MockInterceptor {
    return this.#target.intercept(options, MockPool.prototype.intercept)
  }

  /** Removes all interceptors. */
  cleanMocks(): void {
    this.#target.cleanMocks()
  }

  /** Throws if nothing matches and the network is not allowed. */
  override dispatch(options: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    if (!isCall(options, handler) || this.closed || this.destroyed) return super.dispatch(options, handler)
    return this.#target.dispatch(options, handler)
  }

  protected override finish(done: () => void): void {
    this.#target.finish(() => super.finish(done))
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#target.terminate(reason, () => super.terminate(reason, done))
  }
}
defineKind(MockPool, 'ventuno.MockPool')

/** The types under the names that programs written for undici use. */
export declare namespace MockPool {
  export type { MockPoolOptions as Options }
}
