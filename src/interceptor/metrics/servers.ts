/**
 * How measurements name a server. A crawler, or a server that redirects to ever new names, must not make
 * ever new series: those that come late share one name.
 */
import { OTHER } from './error-type.ts'
import type { MetricAttributes } from './meter.ts'

/** Servers with a name of their own. */
const MAX_SERVERS = 1000

/** The name of what is not known, or not to be named. */
export const NO_SERVER = ''

export class Servers {
  readonly #constant: MetricAttributes
  readonly #areNamed: boolean
  readonly #names: Set<string> = new Set()

  /** `constant`: of the caller, for every measurement. */
  constructor(constant: MetricAttributes, areNamed: boolean) {
    this.#constant = constant
    this.#areNamed = areNamed
  }

  /** `origin` is normalised. What it is called does not change any more. */
  nameOf(origin: string | null): string {
    if (origin === null || !this.#areNamed) return NO_SERVER
    if (this.#names.has(origin)) return origin
    if (this.#names.size >= MAX_SERVERS) return `${schemeOf(origin)}:${OTHER}`
    this.#names.add(origin)
    return origin
  }

  attributesOf(name: string): MetricAttributes {
    const constant = this.#constant
    if (name === NO_SERVER) return constant
    const scheme = schemeOf(name)
    if (name.endsWith(`:${OTHER}`)) return { ...constant, 'server.address': OTHER, 'url.scheme': scheme }
    const { hostname, port } = new URL(name)
    return {
      ...constant,
      // An address of IPv6 without its brackets.
      'server.address': hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      'server.port': port === '' ? defaultPort(scheme) : Number(port),
      'url.scheme': scheme,
    }
  }
}

function schemeOf(origin: string): string {
  return origin.slice(0, origin.indexOf(':'))
}

function defaultPort(scheme: string): number {
  return scheme === 'https' ? 443 : 80
}
