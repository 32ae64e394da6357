/**
 * The instruments of one meter, and what they measure. All interceptors with the same meter share them: an
 * instrument whose values are collected has one value for the same attributes, and that is the sum. What a
 * meter throws after it was accepted ends here.
 */
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import {
  checkMeter,
  type MeterLike,
  type MetricAttributes,
  type MetricCounter,
  type MetricHistogram,
  type MetricInstrumentOptions,
  usable,
} from './meter.ts'
import { SeriesTable } from './series.ts'

/** Seconds; those that the conventions advise. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Bytes, in steps of four. */
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

const TIME: MetricInstrumentOptions = { unit: 's', advice: { explicitBucketBoundaries: SECONDS } }
const SIZE: MetricInstrumentOptions = { unit: 'By', advice: { explicitBucketBoundaries: BYTES } }

export class Instruments {
  /** A meter says nothing about a request: it belongs to the program, and may come to any number of calls. */
  static readonly #ofMeters: WeakMap<object, Instruments> = new WeakMap()

  /** Throws for what is no meter. */
  static of(meter: unknown): Instruments {
    checkMeter(meter)
    let instruments = Instruments.#ofMeters.get(meter)
    if (instruments === undefined) {
      instruments = new Instruments(meter)
      Instruments.#ofMeters.set(meter, instruments)
    }
    return instruments
  }

  readonly duration: MetricHistogram
  readonly timeInQueue: MetricHistogram
  readonly requestSize: MetricHistogram
  readonly responseSize: MetricHistogram
  readonly retries: MetricCounter
  readonly cacheResults: MetricCounter
  readonly circuits: MetricCounter
  readonly #tables: Map<string, SeriesTable> = new Map()

  constructor(meter: MeterLike) {
    const histogram = (name: string, options: MetricInstrumentOptions, description: string) =>
      usable(meter.createHistogram(name, { ...options, description }), 'record', name)
    const counter = (name: string, unit: string, description: string) =>
      usable(meter.createCounter(name, { unit, description }), 'add', name)
    this.duration = histogram('http.client.request.duration', TIME, 'Duration of HTTP client requests.')
    this.requestSize = histogram('http.client.request.body.size', SIZE, 'Size of HTTP client request bodies.')
    this.responseSize = histogram(
      'http.client.response.body.size',
      SIZE,
      'Size of HTTP client response bodies.',
    )
    this.timeInQueue = histogram(
      'ventuno.request.time_in_queue',
      TIME,
      'Time until a request is written, a new connection included.',
    )
    this.retries = counter('ventuno.request.retries', '{retry}', 'Attempts that were repeated.')
    this.cacheResults = counter('ventuno.cache.results', '{response}', 'What the cache did.')
    this.circuits = counter(
      'ventuno.circuit_breaker.transitions',
      '{transition}',
      'Changes of the state of a circuit.',
    )
    const active = 'http.client.active_requests'
    const options = { unit: '{request}', description: 'Number of active HTTP requests.' }
    usable(meter.createObservableUpDownCounter(active, options), 'addCallback', active).addCallback((sum) => {
      for (const table of this.#tables.values())
        for (const series of table) sum.observe(series.active, series.attributes)
    })
  }

  /** Of interceptors with the same constant attributes. */
  table(constant: MetricAttributes, namesServer: boolean): SeriesTable {
    const key = JSON.stringify([namesServer, Object.entries(constant).sort()])
    let table = this.#tables.get(key)
    if (table === undefined) {
      table = new SeriesTable(constant, namesServer)
      this.#tables.set(key, table)
    }
    return table
  }
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
