/** The options of `interceptors.metrics`: their defaults and checks. */
import type { Dispatcher } from '../../dispatcher/dispatcher.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import { type Check, isAnything, isBoolean, option, readLoosely } from '../../options.ts'
import { Instruments } from './instruments.ts'
import type { MeterLike, MetricAttributes } from './meter.ts'
import type { SeriesTable } from './series.ts'

/** Options of `interceptors.metrics`. */
export interface MetricsOptions {
  /** Creates the instruments: a meter of OpenTelemetry. */
  meter: MeterLike
  /** Added to every measurement. Default: none. */
  attributes?: MetricAttributes | null | undefined
  /** Whether measurements name the server: its address, its port and the scheme. Default: true. */
  serverAddress?: boolean | null | undefined
  /** The dispatcher whose connections are measured as well. Default: none. */
  connectionsOf?: Dispatcher | null | undefined
  /** Measures the sizes of bodies and the time in the queue as well. Default: false. */
  details?: boolean | null | undefined
}

export interface MetricsSettings {
  readonly instruments: Instruments
  readonly table: SeriesTable
  readonly details: boolean
}

const VALUES = ['string', 'number', 'boolean']

const isAttributes: Check = (value) =>
  typeof value === 'object' &&
  !Array.isArray(value) &&
  Object.values(value as object).every((one) => VALUES.includes(typeof one))

function isDispatcher(value: unknown): value is Dispatcher {
  const { on, connections } = value as { on?: unknown; connections?: unknown }
  return typeof on === 'function' && typeof connections === 'function'
}

const OPTIONS = {
  meter: option<unknown>(null, isAnything),
  attributes: option<MetricAttributes>({}, isAttributes, undefined, (given: object) => ({ ...given })),
  serverAddress: option(true, isBoolean),
  details: option(false, isBoolean),
  connectionsOf: option<Dispatcher | null>(
    null,
    isDispatcher,
    'connectionsOf must be a dispatcher with connections()',
  ),
}

const NAMES = new OptionNames('interceptors.metrics()', OPTIONS)

export function readMetricsOptions(options: MetricsOptions): MetricsSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options must be an object')
  }
  const { meter, attributes, serverAddress, details, connectionsOf } = readLoosely(OPTIONS, options, NAMES)
  const instruments = Instruments.of(meter)
  const table = instruments.table(attributes, serverAddress)
  if (connectionsOf !== null) instruments.connections.watch(connectionsOf, table.servers)
  return { instruments, table, details }
}
