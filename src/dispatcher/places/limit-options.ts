/**
 * The limits of an agent over all origins, as options; and how an agent hands the limit on to what it makes.
 */
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { type Check, integerFrom, option, readOptions } from '../../options.ts'
import { ConnectionLimit } from './connection-limit.ts'

/** Limits over all origins of an agent. */
export interface ConnectionLimitOptions {
  /** Most connections at a time to all origins together, also while they open and close. Default: Infinity. */
  maxConnections?: number | null | undefined
  /** Most connections on which nothing runs, to all origins together. Default: Infinity. */
  maxIdleConnections?: number | null | undefined
  /** Milliseconds that an origin waits for one of `maxConnections`; 0 to fail at once. Default: Infinity. */
  maxConnectionsWait?: number | null | undefined
}

const orInfinity =
  (check: Check): Check =>
  (value) =>
    value === Number.POSITIVE_INFINITY || check(value)

const OPTIONS = {
  maxConnections: option(
    Number.POSITIVE_INFINITY,
    orInfinity(integerFrom(1)),
    'maxConnections must be an integer greater than 0 or Infinity',
  ),
  maxIdleConnections: option(
    Number.POSITIVE_INFINITY,
    orInfinity(integerFrom(0)),
    'maxIdleConnections must be a positive integer, zero or Infinity',
  ),
  maxConnectionsWait: option(
    Number.POSITIVE_INFINITY,
    orInfinity((value) => Number.isFinite(value) && (value as number) >= 0),
    'maxConnectionsWait must be a positive number, zero or Infinity',
  ),
}

/** What is left for the dispatchers that an agent makes. */
export function withoutLimits<T extends ConnectionLimitOptions>(
  options: T,
): Omit<T, keyof ConnectionLimitOptions> {
  const {
    maxConnections: _,
    maxIdleConnections: __,
    maxConnectionsWait: ___,
    ...others
  } = ownMembers(options)
  return others
}

/**
 * Null if nothing is limited.
 *
 * @param factory what a caller's function makes is not counted: the option that has it, or null
 */
export function readConnectionLimit(
  options: ConnectionLimitOptions,
  factory: string | null,
): ConnectionLimit | null {
  const settings = readOptions(OPTIONS, options)
  const { maxConnections, maxIdleConnections } = settings
  if (Math.min(maxConnections, maxIdleConnections) === Number.POSITIVE_INFINITY) return null
  if (factory === null) return new ConnectionLimit(settings)
  throw new InvalidArgumentError(`maxConnections and maxIdleConnections cannot be used with a ${factory}`)
}

/** By the options that one dispatcher of the library makes another with. */
const limits = new WeakMap<object, ConnectionLimit>()

/** The dispatcher that is made with these options keeps the limit together with others. */
export function limited<T extends object>(options: T, limit: ConnectionLimit | null): T {
  if (limit !== null) limits.set(options, limit)
  return options
}

export function limitOf(options: unknown): ConnectionLimit | null {
  return limits.get(Object(options)) ?? null
}
