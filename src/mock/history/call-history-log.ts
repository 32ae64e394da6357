/** One request in the history of calls of a mock agent. */

import { parseUrl } from '../../base/address/parse-url.ts'
import { defineKind } from '../../base/object/kind.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { PendingInterceptor } from '../match/interception.ts'

/** The properties that a log can be searched by, in the order of `toMap()`. */
const PROPERTIES = [
  'protocol',
  'host',
  'port',
  'origin',
  'path',
  'hash',
  'searchParams',
  'fullUrl',
  'method',
  'body',
  'headers',
] as const

/** The properties of `toMap()`. */
export type MockCallHistoryLogProperties = (typeof PROPERTIES)[number]

/** A request as it was dispatched, and its outcome. Many fields, because undici has eleven of them. */
export class MockCallHistoryLog {
  /** As the caller gave it. */
  declare body: DispatchOptions['body']
  /** As the caller gave them. */
  declare headers: Record<string, string | string[]> | null | undefined
  /** As the caller gave it. */
  declare method: string
  /** With query and fragment. */
  declare fullUrl: string
  /** Protocol, host and port. */
  declare origin: string
  /** Without query. */
  declare path: string
  /** Of a repeated name, the last value. `url` has them all. */
  declare searchParams: Record<string, string>
  /** `http:` or `https:`. */
  declare protocol: string
  /** With the port unless it is the default one. */
  declare host: string
  /** Empty for the default one. */
  declare port: string
  /** With its `#`; empty if there is none. */
  declare hash: string
  /** The whole URL, with all values of repeated parameters. */
  declare readonly url: URL
  /** Whether an interceptor or a snapshot replied. */
  declare matched: boolean
  /** The interceptor that replied. */
  declare interceptor: PendingInterceptor | null
  /** The status of the response, once it has come. */
  declare statusCode: number | null
  /** The error that the request failed with. */
  declare error: unknown

  constructor(options: Partial<DispatchOptions> = {}) {
    const url = urlOf(options)
    const { body, headers, method } = options
    const { href: fullUrl, origin, pathname: path, protocol, host, port, hash } = url
    const searchParams = Object.fromEntries(url.searchParams)
    Object.assign(this, { body, headers, method, fullUrl, origin, path, searchParams })
    Object.assign(this, { protocol, host, port, hash })
    // Not enumerable, so that a comparison with what undici logs holds.
    const hidden = { url, matched: false, interceptor: null, statusCode: null, error: null }
    for (const [name, value] of Object.entries(hidden)) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true })
    }
  }

  /** The properties by name. */
  toMap(): Map<MockCallHistoryLogProperties, unknown> {
    return new Map(PROPERTIES.map((name) => [name, this[name]]))
  }

  /** `protocol->http:|host->…`; a RegExp given to `filterCalls` is tested on this. */
  toString(): string {
    const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
    return Array.from(this.toMap(), ([name, value]) => `${name}->${textOf(value)}`).join('|')
  }
}
defineKind(MockCallHistoryLog, 'ventuno.MockCallHistoryLog')

function urlOf({ origin, path, query }: Partial<DispatchOptions>): URL {
  try {
    // The fragment, which no request sends, stays at the end.
    const [, before, fragment] = /^([^#]*)(.*)$/s.exec(path as string)!
    return parseUrl(query ? withQuery(before!, query) + fragment! : (path as string), origin ?? undefined)
  } catch (cause) {
    throw new InvalidArgumentError('An error occurred when computing MockCallHistoryLog.url', { cause })
  }
}

/** The types under the names that programs written for undici use. */
export declare namespace MockCallHistoryLog {
  export type { MockCallHistoryLogProperties }
}
