/** What of a request and its response is stored, and what decides whether two requests are the same. */
import { parseUrl } from '../../base/address/parse-url.ts'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import { isSecretField } from '../../base/text/secret-names.ts'
import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { readFields } from '../match/header-matcher.ts'
import { bytesOf } from '../mock-body.ts'
import { REDACTED, type SnapshotRequest, type SnapshotResponse } from './snapshot.ts'
import { storedBody, storedContentType, undiciBody } from './snapshot-body.ts'
import type { SnapshotRecorderOptions } from './snapshot-options.ts'

/** That our `fetch` sends. */
const USER_AGENT = 'ventuno'

/** Headers that `fetch` adds. With these values they are not compared; null stands for any value. */
const GENERATED: ReadonlyMap<string, RegExp | null> = new Map([
  ['accept', /^\*\/\*$/],
  ['accept-encoding', /^(?:(?:gzip|deflate|br|zstd)(?:, )?)+$/],
  ['accept-language', /^\*$/],
  ['connection', null],
  ['content-length', null],
  ['content-type', /^text\/plain;charset=UTF-8$/],
  ['sec-fetch-mode', null],
  ['transfer-encoding', null],
  ['user-agent', /^(?:undici|node|ventuno.*)$/],
])

export class SnapshotRules {
  /** A HAR of a browser has headers of its own, which are ignored unless `matchHeaders` is set. */
  isArchive = false
  readonly #options: SnapshotRecorderOptions
  readonly #matched: ReadonlySet<string> | null
  readonly #ignored: ReadonlySet<string>
  readonly #excluded: ReadonlySet<string>

  constructor(options: SnapshotRecorderOptions) {
    const { matchHeaders, ignoreHeaders, excludeHeaders, caseSensitive } = options
    const names = (list: readonly string[] = []): ReadonlySet<string> =>
      new Set(caseSensitive === true ? list : list.map((name) => name.toLowerCase()))
    this.#options = options
    this.#matched = matchHeaders === undefined || matchHeaders.length === 0 ? null : names(matchHeaders)
    this.#ignored = names(ignoreHeaders)
    this.#excluded = names(excludeHeaders)
  }

  #storesOfRequest(name: string): boolean {
    if (this.#excluded.has(name) || this.#ignored.has(name)) return false
    return this.#matched === null || this.#matched.has(name)
  }

  /** As they are stored. */
  requestHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    const stored = this.#select(headers, (name) => this.#storesOfRequest(name))
    const type = stored['content-type']
    return type === undefined ? stored : { ...stored, 'content-type': storedContentType(type) }
  }

  /** As they are stored. */
  responseHeaders(headers: SnapshotResponse['headers']): SnapshotResponse['headers'] {
    return this.#select(headers, (name) => !this.#excluded.has(name))
  }

  #select<T>(
    headers: Readonly<Record<string, T>>,
    stores: (name: string) => boolean,
  ): Record<string, T | string> {
    const isHidden = (name: string): boolean => isSecretField(name) && this.#options.secrets !== 'keep'
    const stored = Object.entries(headers).filter(([name]) => stores(name))
    return Object.fromEntries(stored.map(([name, value]) => [name, isHidden(name) ? REDACTED : value]))
  }

  /** The request as it is stored. `content` is its body, collected if necessary. */
  request(options: DispatchOptions, content: unknown, origin: string): SnapshotRequest {
    const fields = readFields(options.headers)
    const headers = this.requestHeaders(fields)
    // Our connections add it when they write; undici's `fetch` adds it before, and compares it.
    const isFetched = 'sec-fetch-mode' in fields && !('content-length' in fields)
    if (isFetched && this.#storesOfRequest('content-length')) {
      const length = lengthOf(options.body)
      const isExpected = options.method === 'POST' || options.method === 'PUT'
      if (length !== null && (length > 0 || isExpected)) headers['content-length'] = String(length)
    }
    const body = storedBody(content, fields, this.#options)
    return { method: options.method, url: this.#urlOf(options, origin), headers, ...body }
  }

  #urlOf(options: DispatchOptions, origin: string): string {
    const { matchQuery, normalizeQuery } = this.#options
    const url = parseUrl(withQuery(options.path, options.query), origin)
    if (matchQuery === false) url.search = ''
    else if (normalizeQuery !== undefined) url.search = normalizeQuery(url.searchParams)
    url.hash = ''
    return url.toString()
  }

  /** The same request with the body that undici would have stored. */
  undiciRequest(request: SnapshotRequest, { body, headers }: DispatchOptions): SnapshotRequest {
    const { matchBody, normalizeBody } = this.#options
    if (matchBody === false || normalizeBody !== undefined) return request
    const { bodyEncoding: _, ...others } = request
    return { ...others, body: undiciBody(body, readFields(headers)) }
  }

  /** Equal for requests that count as the same. Of a secret only the presence counts. */
  keyOf({ method, url, headers, body = '', bodyEncoding }: SnapshotRequest): string {
    const names = Object.keys(headers).sort()
    const compared = names.filter((name) => this.#compares(name, headers[name]!))
    const fields = compared.map((name) => [name, isSecretField(name) ? REDACTED : headers[name]])
    return JSON.stringify([method, url, fields, bodyEncoding ?? 'text', body])
  }

  /** A recording of `request()` also serves `fetch`, and vice versa. */
  #compares(name: string, value: string): boolean {
    if (!this.#storesOfRequest(name)) return false
    if (this.#matched !== null) return true
    if (this.isArchive) return false
    const generated = GENERATED.get(name)
    return generated === undefined || (generated !== null && !generated.test(value))
  }
}

/** Null for a stream. */
function lengthOf(body: unknown): number | null {
  if (body === undefined || body === null) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : (bytesOf(body)?.length ?? null)
}

/** The hash in files, by which undici finds a snapshot. Its `fetch` sends another user agent than ours. */
export function hashOf({ method, url, headers, body = '' }: SnapshotRequest): string {
  const parts = [method, url]
  for (const name of Object.keys(headers).sort()) {
    const value = headers[name]!
    parts.push(name, name === 'user-agent' && value === USER_AGENT ? 'undici' : value)
  }
  parts.push(body)
  return loadCrypto().createHash('sha256').update(parts.join('|')).digest('base64url')
}
