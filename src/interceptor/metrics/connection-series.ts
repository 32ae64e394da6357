/** How many connections there are, by server, protocol and state. */
import type { ConnectionSnapshot } from '../../dispatcher/connection-snapshot.ts'
import type { MetricAttributes, MetricObservation } from './meter.ts'
import type { Servers } from './servers.ts'

const STATE = 'http.connection.state'

/** Of connections to the same server with the same protocol. */
class ConnectionSeries {
  readonly attributes: MetricAttributes
  readonly #idleAttributes: MetricAttributes
  readonly #activeAttributes: MetricAttributes
  idle = 0
  active = 0

  constructor(attributes: MetricAttributes) {
    this.attributes = attributes
    this.#idleAttributes = { ...attributes, [STATE]: 'idle' }
    this.#activeAttributes = { ...attributes, [STATE]: 'active' }
  }

  observe(observation: MetricObservation): void {
    observation.observe(this.idle, this.#idleAttributes)
    observation.observe(this.active, this.#activeAttributes)
  }
}

type Row = Pick<ConnectionSnapshot, 'origin' | 'protocol' | 'state'>

export class ConnectionTable {
  readonly #servers: Servers
  readonly #series: Map<string, ConnectionSeries> = new Map()

  constructor(servers: Servers) {
    this.#servers = servers
  }

  /** Of this connection, whatever its state. */
  attributesOf(row: Row): MetricAttributes {
    return this.#seriesOf(row).attributes
  }

  /** Of connections to this server of which no more is known. */
  attributesOfServer(origin: string): MetricAttributes {
    return this.#servers.attributesOf(this.#servers.nameOf(origin))
  }

  /** Counts from nothing again. What there was stays, with nothing in it. */
  clear(): void {
    for (const series of this.#series.values()) {
      series.idle = 0
      series.active = 0
    }
  }

  /** One that is opened or closed carries nothing, and is not counted. */
  add(row: Row): void {
    if (row.state === 'idle') this.#seriesOf(row).idle++
    else if (row.state === 'active' || row.state === 'draining') this.#seriesOf(row).active++
  }

  observe(observation: MetricObservation): void {
    for (const series of this.#series.values()) series.observe(observation)
  }

  #seriesOf({ origin, protocol }: Row): ConnectionSeries {
    const name = this.#servers.nameOf(origin)
    const key = `${protocol} ${name}`
    let series = this.#series.get(key)
    if (series === undefined) {
      const version = protocol === 'h2' ? '2' : '1.1'
      series = new ConnectionSeries({
        ...this.#servers.attributesOf(name),
        'network.protocol.version': version,
      })
      this.#series.set(key, series)
    }
    return series
  }
}
