/**
 * Several connections to one origin, used in turn. Its work is done in scheduler.ts.
 */

import { defineKind } from '../../base/object/kind.ts'
import type { PoolStats } from '../stats.ts'
import type { PoolOptions } from './options.ts'
import { PoolBase } from './pool-base.ts'

/**
 * A pool that spreads requests evenly: of the clients that are free, the one that was used longest ago gets
 * the next. Another one is added only when none is free. For servers behind a balancer that assigns
 * connections rather than requests.
 *
 * @example
 * const pool = new RoundRobinPool('http://service.internal', { connections: 4 })
 */
export class RoundRobinPool extends PoolBase {
  /** @param url Protocol, host name and port; nothing else. */
  constructor(url: string | URL | object, options: PoolOptions = {}) {
    super(url, options, 'next', RoundRobinPool)
  }
}

defineKind(RoundRobinPool, 'ventuno.RoundRobinPool')

/** The types under the names that programs written for undici use. */
export declare namespace RoundRobinPool {
  export type { PoolOptions as Options, PoolStats as RoundRobinPoolStats }
}
