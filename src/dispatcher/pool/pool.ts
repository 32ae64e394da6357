/**
 * Several connections to one origin. Its work is done in scheduler.ts.
 */

import { defineKind } from '../../base/object/kind.ts'
import type { PoolStats } from '../stats.ts'
import type { PoolOptions } from './options.ts'
import { PoolBase } from './pool-base.ts'

/**
 * Clients for one origin: a request goes to the oldest one that is free, to a new one while there are fewer
 * than `connections`, and waits otherwise. Over HTTP/2 requests share connections, and another one is opened
 * only when they would have to wait for a stream.
 *
 * @example
 * const pool = new Pool('https://example.com', { connections: 10 })
 * const { body } = await pool.request({ path: '/', method: 'GET' })
 * await pool.close()
 */
export class Pool extends PoolBase {
  /** @param url Protocol, host name and port; nothing else. */
  constructor(url: string | URL | object, options: PoolOptions = {}) {
    super(url, options, 'first', Pool)
  }
}

defineKind(Pool, 'ventuno.Pool')

/** The types under the names that programs written for undici use. */
export declare namespace Pool {
  export type { PoolOptions as Options, PoolStats }
}
