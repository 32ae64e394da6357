/** A pool whose requests interceptors reply to. */
import { defineKind } from '../base/object/kind.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import type { PoolOptions } from '../dispatcher/pool/options.ts'
import { Pool } from '../dispatcher/pool/pool.ts'
import { type Mocking, mocking } from './mocking.ts'

/** Options of `MockPool`. */
export interface MockPoolOptions extends PoolOptions {
  /** The mock agent that decides about requests without a match. */
  agent: Dispatcher
}

const MockedPool: Mocking<Pool, PoolOptions> = mocking(Pool)

/**
 * The interceptors of one origin, and a dispatcher for requests to it.
 *
 * @example
 * const pool = new MockAgent().get('http://api.test')
 * pool.intercept({ path: '/' }).reply(200, 'hello')
 */
export class MockPool extends MockedPool {}
defineKind(MockPool, 'ventuno.MockPool')

/** The types under the names that programs written for undici use. */
export declare namespace MockPool {
  export type { MockPoolOptions as Options }
}
