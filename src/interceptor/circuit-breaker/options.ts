/** The options of a circuit breaker: their defaults and checks. */
import { type Check, finiteAbove, integerFrom, LooseReader } from '../../dispatcher/option-reader.ts'
import { InvalidArgumentError } from '../../errors.ts'

/** Options of `interceptors.circuitBreaker`. */
export interface CircuitBreakerOptions {
  /** The share of failures that opens the circuit: above 0, at most 1. Default: 0.5. */
  threshold?: number | null | undefined
  /** Milliseconds over which requests are counted. Default: 10 000. */
  window?: number | null | undefined
  /** Requests within the window below which the circuit stays closed. Default: 20. */
  minRequests?: number | null | undefined
  /** Milliseconds after which an open circuit lets requests through to try. Default: 5 000. */
  halfOpenAfter?: number | null | undefined
  /** How many it lets through then. Default: 1. */
  halfOpenMax?: number | null | undefined
}

export type CircuitBreakerSettings = { readonly [N in keyof CircuitBreakerOptions]-?: number }

const isShare: Check = (value) => Number.isFinite(value) && (value as number) > 0 && (value as number) <= 1

export function readCircuitBreakerOptions(
  options: CircuitBreakerOptions | null | undefined,
): CircuitBreakerSettings {
  if (options !== null && options !== undefined && typeof options !== 'object') {
    throw new InvalidArgumentError('options must be an object')
  }
  const from = new LooseReader<keyof CircuitBreakerOptions>(options ?? {})
  return {
    threshold: from.read('threshold', 0.5, isShare, 'invalid threshold'),
    window: from.read('window', 10e3, finiteAbove(0), 'invalid window'),
    minRequests: from.read('minRequests', 20, integerFrom(1), 'invalid minRequests'),
    halfOpenAfter: from.read('halfOpenAfter', 5e3, finiteAbove(0), 'invalid halfOpenAfter'),
    halfOpenMax: from.read('halfOpenMax', 1, integerFrom(1), 'invalid halfOpenMax'),
  }
}
