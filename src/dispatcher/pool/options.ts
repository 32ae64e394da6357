/**
 * The options of a pool besides those of its clients.
 */
import { InvalidArgumentError } from '../../errors.ts'
import type { ClientOptions } from '../client-options.ts'
import type { Dispatcher } from '../dispatcher.ts'

/** Makes a member of a pool; gets the pool's own options with a `connect` that all members share. */
export type PoolFactory = (origin: URL, options: ClientOptions) => Dispatcher

/** Options of `Pool` and `RoundRobinPool`. */
export interface PoolOptions extends ClientOptions {
  /** Most connections at a time; null or 0 for any number. Default: null. */
  connections?: number | null | undefined
  /** Makes what requests are given to. Default: a `Client`. */
  factory?: PoolFactory | null | undefined
  /** Milliseconds after which a connection gets no new requests and is replaced; null for never. Default: null. */
  clientTtl?: number | null | undefined
}

export interface PoolSettings {
  readonly connections: number
  readonly factory: PoolFactory | null
  readonly clientTtl: number | null
  /** What is for the members. */
  readonly clientOptions: ClientOptions
}

/** Only own properties count, so that a polluted Object.prototype cannot configure a pool. */
export function readPoolOptions(options: PoolOptions): PoolSettings {
  const own: PoolOptions = Object.assign(Object.create(null), options)
  const { connections, factory, clientTtl, ...clientOptions } = own
  if (
    connections !== null &&
    connections !== undefined &&
    !(typeof connections === 'number' && connections >= 0)
  ) {
    throw new InvalidArgumentError('invalid connections')
  }
  if (factory !== null && factory !== undefined && typeof factory !== 'function') {
    throw new InvalidArgumentError('factory must be a function.')
  }
  if (clientTtl !== null && clientTtl !== undefined && !(Number.isFinite(clientTtl) && clientTtl >= 0)) {
    throw new InvalidArgumentError('invalid clientTtl')
  }
  return {
    connections: connections || Number.POSITIVE_INFINITY,
    factory: factory ?? null,
    clientTtl: clientTtl ?? null,
    clientOptions,
  }
}
