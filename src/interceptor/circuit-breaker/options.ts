/** The options of a circuit breaker: their defaults and checks. */
import { type Check, type Filled, finiteAbove, integerFrom, type OptionTable, option } from '../../options.ts'
import { isStore, type SharedStoreOptions } from '../../redis/shared-store.ts'

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
  /** Opens circuits in all processes that use it. Default: none. */
  store?: CircuitStoreOptions | null | undefined
}

/** Without its store, a process goes by what it has seen itself. */
export type CircuitStoreOptions = Omit<SharedStoreOptions, 'without'>

export type CircuitBreakerSettings = Filled<Omit<CircuitBreakerOptions, 'store'>>

const isShare: Check = (value) => Number.isFinite(value) && (value as number) > 0 && (value as number) <= 1

export const CIRCUIT_BREAKER_OPTIONS: OptionTable<
  CircuitBreakerSettings & { readonly store: CircuitStoreOptions | null }
> = {
  threshold: option(0.5, isShare),
  window: option(10e3, finiteAbove(0)),
  minRequests: option(20, integerFrom(1)),
  halfOpenAfter: option(5e3, finiteAbove(0)),
  halfOpenMax: option(1, integerFrom(1)),
  store: option<CircuitStoreOptions | null>(null, isStore),
}
