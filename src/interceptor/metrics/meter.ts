/**
 * What is used of a meter: that of `@opentelemetry/api` has it, and so has anything with the same methods.
 * What it throws after its instruments were accepted ends here.
 */
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { InvalidArgumentError } from '../../errors.ts'

/** The value of one attribute. */
export type MetricAttributeValue = string | number | boolean

/** Attributes of one measurement. The same object comes for the same values. */
export type MetricAttributes = Readonly<Record<string, MetricAttributeValue>>

/** What an instrument is created with. */
export interface MetricInstrumentOptions {
  /** What it measures. */
  description?: string
  /** As `s` or `By`. */
  unit?: string
  /** What the instrument would like to be aggregated with. */
  advice?: { explicitBucketBoundaries?: number[] }
}

/** Takes single values. */
export interface MetricHistogram {
  /** Takes one value. */
  record(value: number, attributes?: MetricAttributes): void
}

/** Adds up. */
export interface MetricCounter {
  /** Adds a value. */
  add(value: number, attributes?: MetricAttributes): void
}

/** Takes the values of the moment. */
export interface MetricObservation {
  /** Reports the value of the moment. */
  observe(value: number, attributes?: MetricAttributes): void
}

/** Asks for values when they are collected. */
export interface MetricObservable {
  /** Is called whenever values are collected. */
  addCallback(callback: (observation: MetricObservation) => void): void
}

/** A meter of OpenTelemetry, or an object with these methods. */
export interface MeterLike {
  /** For durations and sizes. */
  createHistogram(name: string, options?: MetricInstrumentOptions): MetricHistogram
  /** For what happens. */
  createCounter(name: string, options?: MetricInstrumentOptions): MetricCounter
  /** For what is there now. */
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

/** Seconds; those that the conventions advise. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

export const TIME: MetricInstrumentOptions = { unit: 's', advice: { explicitBucketBoundaries: SECONDS } }

interface Creators {
  histogram(name: string, options: MetricInstrumentOptions, description: string): MetricHistogram
  counter(name: string, unit: string, description: string): MetricCounter
}

/** Throw for an instrument that cannot be used. */
export function creators(meter: MeterLike): Creators {
  return {
    histogram: (name, options, description) =>
      usable(meter.createHistogram(name, { ...options, description }), 'record', name),
    counter: (name, unit, description) =>
      usable(meter.createCounter(name, { unit, description }), 'add', name),
  }
}

/** Gives its values when they are asked for. */
export function observe(
  meter: MeterLike,
  name: string,
  options: MetricInstrumentOptions,
  observer: (observation: MetricObservation) => void,
): void {
  const instrument = usable(meter.createObservableUpDownCounter(name, options), 'addCallback', name)
  ignoreRejection(instrument.addCallback(observer))
}

/** The instrument, if it has the method that is used of it. The promise of one is none. */
function usable<T extends object>(instrument: T, method: keyof T & string, name: string): T {
  ignoreRejection(instrument)
  if (typeof (instrument as Partial<T> | null | undefined)?.[method] !== 'function')
    throw new InvalidArgumentError(`the meter's instrument ${name} must have the method ${method}`)
  return instrument
}

/** The request goes on without the measurement if the meter throws. */
export function record(histogram: MetricHistogram, value: number, attributes: MetricAttributes): void {
  try {
    ignoreRejection(histogram.record(value, attributes))
  } catch {
    // There is nobody to tell: the meter has its own diagnostics.
  }
}

export function count(counter: MetricCounter, attributes: MetricAttributes): void {
  try {
    ignoreRejection(counter.add(1, attributes))
  } catch {
    // As above.
  }
}
