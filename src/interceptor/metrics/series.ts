/**
 * The attributes of measurements, and what is counted with each. Their number is limited: neither a program
 * that talks to ever new hosts nor a server with ever new statuses can fill the memory here, or that of
 * whoever stores the metrics. Attributes are made once and used again for all requests that are alike.
 */
import type { HttpVersion } from '../../request/connection-facts.ts'
import { OTHER } from './error-type.ts'
import type { MetricAttributes, MetricAttributeValue } from './meter.ts'
import { NO_SERVER, type Servers } from './servers.ts'

/** Attribute objects that are kept. Others are made for each measurement. */
const MAX_KEPT = 20_000

/** Those of RFC 9110 and RFC 5789, and QUERY. Others are an attribute that a caller could fill memory with. */
const METHODS: ReadonlySet<string> = new Set(
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '),
)

/** Of requests with the same method to the same server. */
export class Series {
  /** What is known before the response. */
  readonly attributes: MetricAttributes
  /** Requests that have begun and not ended. */
  active = 0
  readonly #kept: Map<number | string, MetricAttributes> = new Map()
  readonly #owner: SeriesTable

  constructor(attributes: MetricAttributes, owner: SeriesTable) {
    this.attributes = attributes
    this.#owner = owner
  }

  /** How a request has ended: `status` is 0 without a response. */
  outcome(status: number, version: HttpVersion | null, error: string | null): MetricAttributes {
    const key = error === null ? status * 4 + Number(version ?? 0) : `${error} ${status} ${version}`
    return this.#kept.get(key) ?? this.#keep(key, outcomeAttributes(this.attributes, status, version, error))
  }

  /** With one more attribute, whose values are few. */
  with(name: string, value: MetricAttributeValue): MetricAttributes {
    const key = `${name}=${value}`
    return this.#kept.get(key) ?? this.#keep(key, { ...this.attributes, [name]: value })
  }

  #keep(key: number | string, attributes: MetricAttributes): MetricAttributes {
    if (this.#owner.mayKeep()) this.#kept.set(key, attributes)
    return attributes
  }
}

function outcomeAttributes(
  base: MetricAttributes,
  status: number,
  version: HttpVersion | null,
  error: string | null,
): MetricAttributes {
  const attributes: Record<string, MetricAttributeValue> = { ...base }
  if (status !== 0) attributes['http.response.status_code'] = status
  if (version !== null) attributes['network.protocol.version'] = version
  if (error !== null) attributes['error.type'] = error
  return attributes
}

export class SeriesTable {
  readonly servers: Servers
  readonly #byServer: Map<string, Map<string, Series>> = new Map()
  #kept = 0

  constructor(servers: Servers) {
    this.servers = servers
  }

  mayKeep(): boolean {
    return ++this.#kept <= MAX_KEPT
  }

  /** `origin` is normalised; null if the request names none. */
  of(origin: string | null, method: unknown): Series {
    const known = METHODS.has(method as string) ? (method as string) : OTHER
    return this.#byServer.get(origin ?? NO_SERVER)?.get(known) ?? this.#add(origin, known)
  }

  #add(origin: string | null, method: string): Series {
    const name = this.servers.nameOf(origin)
    let methods = this.#byServer.get(name)
    if (methods === undefined) {
      methods = new Map()
      this.#byServer.set(name, methods)
    }
    let series = methods.get(method)
    if (series === undefined) {
      series = new Series({ ...this.servers.attributesOf(name), 'http.request.method': method }, this)
      methods.set(method, series)
    }
    return series
  }

  *[Symbol.iterator](): Generator<Series> {
    for (const methods of this.#byServer.values()) yield* methods.values()
  }
}
