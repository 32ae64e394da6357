/**
 * The instruments of one meter, and what they measure. All interceptors with the same meter share them: an
 * instrument whose values are collected has one value for the same attributes, and that is the sum.
 */
import { ConnectionInstruments } from './connection-instruments.ts'
import {
  checkMeter,
  creators,
  type MeterLike,
  type MetricAttributes,
  type MetricCounter,
  type MetricHistogram,
  type MetricInstrumentOptions,
  observe,
  TIME,
} from './meter.ts'
import { SeriesTable } from './series.ts'
import { Servers } from './servers.ts'

/** Bytes, in steps of four. */
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

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
  readonly #meter: MeterLike
  readonly #tables: Map<string, SeriesTable> = new Map()
  #connections: ConnectionInstruments | null = null

  constructor(meter: MeterLike) {
    this.#meter = meter
    const { histogram, counter } = creators(meter)
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
    const options = { unit: '{request}', description: 'Number of active HTTP requests.' }
    observe(meter, 'http.client.active_requests', options, (sum) => {
      for (const table of this.#tables.values())
        for (const series of table) sum.observe(series.active, series.attributes)
    })
  }

  /** Made for those who want them. */
  get connections(): ConnectionInstruments {
    this.#connections ??= new ConnectionInstruments(this.#meter)
    return this.#connections
  }

  /** Of interceptors with the same constant attributes. */
  table(constant: MetricAttributes, namesServer: boolean): SeriesTable {
    const key = JSON.stringify([namesServer, Object.entries(constant).sort()])
    let table = this.#tables.get(key)
    if (table === undefined) {
      table = new SeriesTable(new Servers(constant, namesServer))
      this.#tables.set(key, table)
    }
    return table
  }
}
