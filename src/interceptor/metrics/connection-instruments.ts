/**
 * The instruments of one meter that measure the connections of dispatchers. What is open is counted when
 * values are collected; times come with the events of a connection. A dispatcher is not kept by being
 * measured.
 */
import { channels } from '../../diagnostics.ts'
import { type ConnectionSnapshot, connectionsOf } from '../../dispatcher/connection-snapshot.ts'
import type { Dispatcher } from '../../dispatcher/dispatcher.ts'
import { ConnectionTable } from './connection-series.ts'
import { errorType } from './error-type.ts'
import {
  count,
  creators,
  type MeterLike,
  type MetricCounter,
  type MetricHistogram,
  type MetricObservation,
  observe,
  record,
  TIME,
} from './meter.ts'
import type { Servers } from './servers.ts'

/** Seconds: connections live longer than requests. */
const LIFETIMES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** What the channel says of a connection that was open. */
interface Ended {
  readonly connection: ConnectionSnapshot
  readonly duration: number
  readonly client: object
}

interface Watched {
  readonly dispatcher: WeakRef<Dispatcher>
  readonly table: ConnectionTable
}

export class ConnectionInstruments {
  readonly #duration: MetricHistogram
  readonly #connecting: MetricHistogram
  readonly #tls: MetricHistogram
  readonly #failures: MetricCounter
  readonly #tables: Map<Servers, ConnectionTable> = new Map()
  readonly #watched: Set<Watched> = new Set()
  /** Who counts the connections of a client. */
  readonly #owners: WeakMap<object, Set<ConnectionTable>> = new WeakMap()
  /** The numbers of those that were opened and have not ended. They may outlive their dispatcher. */
  readonly #open: Set<number> = new Set()
  #state: 'silent' | 'listening' = 'silent'
  readonly #onDisconnected = (message: unknown): void => {
    contain(() => this.#ended(message as Ended))
  }

  constructor(meter: MeterLike) {
    const { histogram, counter } = creators(meter)
    this.#duration = histogram(
      'http.client.connection.duration',
      { unit: 's', advice: { explicitBucketBoundaries: LIFETIMES } },
      'Duration of the HTTP connections.',
    )
    this.#connecting = histogram(
      'ventuno.connection.connect.duration',
      TIME,
      'Time until a TCP connection or a tunnel was there.',
    )
    this.#tls = histogram('ventuno.connection.tls.duration', TIME, 'Duration of TLS handshakes.')
    this.#failures = counter(
      'ventuno.connection.failures',
      '{failure}',
      'Connections that could not be opened.',
    )
    const options = { unit: '{connection}', description: 'Number of open HTTP connections.' }
    observe(meter, 'http.client.open_connections', options, (sum) => this.#observe(sum))
  }

  /** Measures the connections of this dispatcher from now on. `servers`: how they are named. */
  watch(dispatcher: Dispatcher, servers: Servers): void {
    this.#prune()
    const table = this.#tableOf(servers)
    for (const one of this.#watched) {
      if (one.dispatcher.deref() === dispatcher && one.table === table) return
    }
    this.#watched.add({ dispatcher: new WeakRef(dispatcher), table })
    this.#listen()
    dispatcher.on('connect', (_origin, targets) => contain(() => this.#opened(targets.at(-1), table)))
    dispatcher.on('connectionError', (origin, _targets, error) =>
      contain(() => {
        const server = table.attributesOfServer(origin.origin)
        count(this.#failures, { ...server, 'error.type': errorType(error) })
      }),
    )
  }

  /** As long as an end may come that is to be measured. */
  #listen(): void {
    const state = this.#watched.size > 0 || this.#open.size > 0 ? 'listening' : 'silent'
    if (state === this.#state) return
    this.#state = state
    channels.disconnected[state === 'listening' ? 'subscribe' : 'unsubscribe'](this.#onDisconnected)
  }

  #tableOf(servers: Servers): ConnectionTable {
    let table = this.#tables.get(servers)
    if (table === undefined) {
      table = new ConnectionTable(servers)
      this.#tables.set(servers, table)
    }
    return table
  }

  #opened(client: object | undefined, table: ConnectionTable): void {
    if (client === undefined) return
    const owners = this.#owners.get(client) ?? new Set()
    this.#owners.set(client, owners.add(table))
    const row = newest(connectionsOf(client))
    if (row === null) return
    this.#open.add(row.id)
    this.#listen()
    const attributes = table.attributesOf(row)
    if (row.connectTime !== null) record(this.#connecting, row.connectTime / 1000, attributes)
    if (row.tlsTime !== null) record(this.#tls, row.tlsTime / 1000, attributes)
  }

  #ended({ connection, duration, client }: Ended): void {
    this.#open.delete(connection.id)
    for (const table of this.#owners.get(client) ?? []) {
      record(this.#duration, duration / 1000, table.attributesOf(connection))
    }
  }

  #observe(observation: MetricObservation): void {
    this.#prune()
    for (const table of this.#tables.values()) table.clear()
    for (const { dispatcher, table } of this.#watched) {
      for (const row of connectionsOf(dispatcher.deref() ?? {})) table.add(row)
    }
    for (const table of this.#tables.values()) table.observe(observation)
  }

  /** Those that are gone, or will never have a connection again. */
  #prune(): void {
    for (const one of this.#watched) if (isOver(one.dispatcher.deref())) this.#watched.delete(one)
    this.#listen()
  }
}

function isOver(dispatcher: Dispatcher | undefined): boolean {
  if (dispatcher === undefined) return true
  const { destroyed } = dispatcher as { destroyed?: unknown }
  return destroyed === true && connectionsOf(dispatcher).length === 0
}

/** The one that has just been opened. */
function newest(rows: readonly ConnectionSnapshot[]): ConnectionSnapshot | null {
  let last: ConnectionSnapshot | null = null
  for (const row of rows) if (row.state !== 'connecting' && row.id > (last?.id ?? 0)) last = row
  return last
}

/** An event must not fail for whoever emits it. */
function contain(act: () => void): void {
  try {
    act()
  } catch {
    // A dispatcher of another library may have other arguments.
  }
}
