/**
 * The options of a pool besides those of its clients.
 */
import {
  type Check,
  finiteFrom,
  isFunction,
  type Option,
  option,
  ownOptions,
  readOptions,
} from '../../options.ts'
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
  /**
   * Milliseconds after which a connection gets no new requests and is replaced; null for never. Default:
   * null.
   */
  clientTtl?: number | null | undefined
}

export interface PoolSettings {
  readonly connections: number
  readonly factory: PoolFactory | null
  readonly clientTtl: number | null
  /** What is for the members. */
  readonly clientOptions: ClientOptions
}

const isCount: Check = (value) => typeof value === 'number' && value >= 0

/** Also of those that make pools. */
export const FACTORY: Option<unknown> = option<unknown>(null, isFunction, 'factory must be a function.')

const OPTIONS = {
  connections: option<number | null>(null, isCount),
  factory: FACTORY as Option<PoolFactory | null>,
  clientTtl: option<number | null>(null, finiteFrom(0)),
}

export function readPoolOptions(options: PoolOptions): PoolSettings {
  const read = readOptions(OPTIONS, Object(options))
  const {
    connections: _,
    factory: __,
    clientTtl: ___,
    ...clientOptions
  }: PoolOptions = ownOptions(Object(options))
  return { ...read, connections: read.connections || Number.POSITIVE_INFINITY, clientOptions }
}
