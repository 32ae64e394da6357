/**
 * What is used of a meter: that of `@opentelemetry/api` has it, and so has anything with the same methods.
 * Types and checks only.
 */
import { InvalidArgumentError } from '../../errors.ts'

export type MetricAttributeValue = string | number | boolean

/** Attributes of one measurement. The same object comes for the same values. */
export type MetricAttributes = Readonly<Record<string, MetricAttributeValue>>

/** What an instrument is created with. */
export interface MetricInstrumentOptions {
  description?: string
  /** As `s` or `By`. */
  unit?: string
  /** What the instrument would like to be aggregated with. */
  advice?: { explicitBucketBoundaries?: number[] }
}

/** Takes single values. */
export interface MetricHistogram {
  record(value: number, attributes?: MetricAttributes): void
}

/** Adds up. */
export interface MetricCounter {
  add(value: number, attributes?: MetricAttributes): void
}

/** Takes the values of the moment. */
export interface MetricObservation {
  observe(value: number, attributes?: MetricAttributes): void
}

/** Asks for values when they are collected. */
export interface MetricObservable {
  addCallback(callback: (observation: MetricObservation) => void): void
}

/** A meter of OpenTelemetry, or an object with these methods. */
export interface MeterLike {
  createHistogram(name: string, options?: MetricInstrumentOptions): MetricHistogram
  createCounter(name: string, options?: MetricInstrumentOptions): MetricCounter
  createObservableUpDownCounter(name: string, options?: MetricInstrumentOptions): MetricObservable
}

const METHODS = ['createHistogram', 'createCounter', 'createObservableUpDownCounter'] as const

/** Throws for anything else. */
export function checkMeter(value: unknown): asserts value is MeterLike {
  if (typeof value !== 'object' || value === null) throw new InvalidArgumentError('meter must be an object')
  for (const method of METHODS) {
    if (typeof (value as Partial<MeterLike>)[method] !== 'function')
      throw new InvalidArgumentError(`meter must have the method ${method}`)
  }
}

/** The instrument, if it has the method that is used of it. */
export function usable<T extends object>(instrument: T, method: keyof T & string, name: string): T {
  if (typeof (instrument as Partial<T> | null | undefined)?.[method] !== 'function')
    throw new InvalidArgumentError(`the meter's instrument ${name} must have the method ${method}`)
  return instrument
}
