/**
 * The fields for the proxy: the `headers` of the agent and `proxy-authorization`. They are in CONNECT and in
 * forwarded requests, and never inside a tunnel.
 */
import { whenReady } from '../base/loop/thenable.ts'
import { InvalidArgumentError } from '../errors.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import { type FlatHeaders, flatHeaders, headerNames, isPairIterable } from '../request/headers-input.ts'
import { RequestFields } from '../request/request-fields.ts'

export const PROXY_AUTHORIZATION = 'proxy-authorization'

/** Returns the value of `proxy-authorization`. */
export type ProxyTokenFunction = () => string | null | undefined | Promise<string | null | undefined>

/** Set for each request. RFC 9113 §8.2.2 forbids `proxy-connection` over HTTP/2. */
const NOT_OURS: ReadonlySet<string> = new Set(['host', 'proxy-connection', PROXY_AUTHORIZATION])

export class ProxyFields {
  /** Checked, without `NOT_OURS`. */
  readonly #own: unknown[] = []
  readonly #fixed: string | null
  readonly #token: ProxyTokenFunction | null

  /** `userInfo`: from the URL of the proxy, for an agent without `token` and `auth`. */
  constructor(headers: unknown, token: unknown, auth: unknown, userInfo: string | null) {
    const flat = flatHeaders(headers)
    new RequestFields().addAll(flat)
    let given: unknown
    for (let i = 0; i < flat.length; i += 2) {
      const name = lowerCaseName(flat[i] as string)
      if (name === PROXY_AUTHORIZATION) given ??= flat[i + 1]
      if (!NOT_OURS.has(name) && flat[i + 1] !== undefined) this.#own.push(flat[i], flat[i + 1])
    }
    this.#token = typeof token === 'function' ? (token as ProxyTokenFunction) : null
    const fixed = this.#token === null ? (token ?? (auth ? `Basic ${auth}` : (userInfo ?? given))) : null
    this.#fixed = checkedValue(fixed)
  }

  /** A function returns the token: after a refusal it is called once more. */
  get isRotating(): boolean {
    return this.#token !== null
  }

  /** The value to send now; null for none. */
  authorization(): string | null | Promise<string | null> {
    if (this.#token === null) return this.#fixed
    return whenReady(this.#token(), checkedValue)
  }

  /**
   * The fields of CONNECT, or of a forwarded request: `extra` replaces those of the agent with the same name,
   * and those of the request replace both.
   */
  for(host: string, authorization: string | null, extra: FlatHeaders, request: unknown = null): FlatHeaders {
    const fields: unknown[] = ['host', host, ...this.#own]
    if (authorization !== null) fields.push(PROXY_AUTHORIZATION, authorization)
    return replaced(replaced(fields, extra), flatHeaders(request))
  }
}

/**
 * Credentials for a proxy belong to the agent: as a header of a request they would reach the target inside a
 * tunnel. Returns the headers to go on with: an iterator that can be read only once is a list afterwards.
 */
export function guardHeaders(headers: HeadersInput | null | undefined): HeadersInput | null | undefined {
  if (typeof headers !== 'object' || headers === null) return headers
  const isOneShot = !Array.isArray(headers) && isPairIterable(headers)
  const given = isOneShot ? (flatHeaders(headers) as HeadersInput) : headers
  for (const name of headerNames(given)) {
    if (typeof name !== 'string' || name.length !== PROXY_AUTHORIZATION.length) continue
    if (lowerCaseName(name) !== PROXY_AUTHORIZATION) continue
    throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
  }
  return given
}

/** Names are compared without case (RFC 9110 §5.1); a name may be repeated within one list. */
function replaced(fields: FlatHeaders, later: FlatHeaders): FlatHeaders {
  if (later.length === 0) return fields
  const names = new Set<string>()
  const kept: unknown[] = []
  for (let i = 0; i < later.length; i += 2) {
    const name = later[i]
    const lower = typeof name === 'string' ? lowerCaseName(name) : ''
    if (lower === 'proxy-connection' || later[i + 1] === undefined) continue
    names.add(lower)
    kept.push(name, later[i + 1])
  }
  return [...fields.filter((_, i) => !names.has(lowerCaseName(fields[i - (i % 2)] as string))), ...kept]
}

function checkedValue(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'string') throw new InvalidArgumentError('token must be a string')
  new RequestFields().add(PROXY_AUTHORIZATION, value)
  return value
}
