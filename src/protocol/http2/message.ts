/**
 * HTTP messages as HTTP/2 carries them (RFC 9113 §8, RFC 8441): which fields a response may have, and the
 * field list of a request. Pure functions over flat name/value lists; knows no streams.
 */
import { HTAB, isFieldValue, SP } from '../ascii.ts'
import type { ProtocolFailure } from '../failure.ts'
import type { FieldValue, HeaderList } from '../header-list.ts'
import { lowerCaseName } from '../header-names.ts'

/**
 * RFC 9113 §8.2.1: a token without upper case. A colon is not a token character, so pseudo fields fail too.
 */
const LOWER_CASE_TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const STATUS = /^[1-9][0-9][0-9]$/
const DIGITS = /^[0-9]+$/

/** RFC 9113 §8.2.2. */
export const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-connection transfer-encoding upgrade'.split(' '),
)

const NAME_IS_NO_TOKEN = 'field name that is not a lower-case token'
const NAME_IS_CONNECTION_SPECIFIC = 'connection-specific field'

/** Servers keep sending the same few dozen names; past this many, names are judged without the cache. */
const MAX_JUDGED_NAMES = 1024

/** Names that are fine. */
const judgedNames = new Set<string>()

function nameFault(name: string): string | null {
  if (judgedNames.has(name)) return null
  if (!LOWER_CASE_TOKEN.test(name)) return NAME_IS_NO_TOKEN
  if (CONNECTION_SPECIFIC.has(name)) return NAME_IS_CONNECTION_SPECIFIC
  if (judgedNames.size < MAX_JUDGED_NAMES) judgedNames.add(name)
  return null
}

function isPadded(value: string): boolean {
  if (value.length === 0) return false
  const first = value.charCodeAt(0)
  const last = value.charCodeAt(value.length - 1)
  return first === SP || first === HTAB || last === SP || last === HTAB
}

/** What makes the fields from index `from` on malformed (RFC 9113 §8.2), or null. */
export function fieldFault(fields: readonly string[], from: number): string | null {
  for (let i = from; i < fields.length; i += 2) {
    const fault = nameFault(fields[i]!)
    if (fault !== null) return fault
    const value = fields[i + 1]!
    if (!isFieldValue(value)) return 'field value with a control character'
    if (isPadded(value)) return 'field value with leading or trailing whitespace'
  }
  return null
}

/** Bytes of names and values from index `from` on: what `maxHeaderSize` counts. */
export function fieldBytes(fields: readonly string[], from: number): number {
  let bytes = 0
  for (let i = from; i < fields.length; i++) bytes += fields[i]!.length
  return bytes
}

/**
 * The status of a response head, or 0: `:status` must come first, have three digits, and not be 101, which
 * has no meaning here (RFC 9113 §8.3.2, §8.6). `fieldFault` refuses a second one.
 */
export function responseStatus(fields: readonly string[]): number {
  if (fields[0] !== ':status') return 0
  const text = fields[1]!
  return STATUS.test(text) && text !== '101' ? Number(text) : 0
}

export const NO_LENGTH = -1
export const BAD_LENGTH = -2

/** The content-length of a head; it may be repeated, but not with another value. */
export function contentLength(fields: readonly string[]): number {
  let found: string | null = null
  for (let i = 2; i < fields.length; i += 2) {
    if (fields[i] !== 'content-length') continue
    const value = fields[i + 1]!
    if (found !== null && found !== value) return BAD_LENGTH
    found = value
  }
  if (found === null) return NO_LENGTH
  const length = Number(found)
  return DIGITS.test(found) && Number.isSafeInteger(length) ? length : BAD_LENGTH
}

/** Responses that have no content whatever their fields say (RFC 9110 §6.4.1). */
export function hasNoContent(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

export interface RequestHead {
  readonly method: string
  readonly scheme: string
  /** Host and port of the origin; for CONNECT without `protocol`, of the target. */
  readonly authority: string
  readonly path: string
  /** For extended CONNECT (RFC 8441 §4), else null. */
  readonly protocol: string | null
  readonly headers: HeaderList
}

/**
 * - `dropped`: pseudo fields replace it, or it concerns the connection, which is not the caller's
 * - `refused`: HTTP/2 forbids it
 * - `once`: it has one value (RFC 9110), so a second field of that name is a mistake
 */
type Treatment = 'dropped' | 'refused' | 'once'

function treat(treatment: Treatment, names: Iterable<string>): [string, Treatment][] {
  return Array.from(names, (name) => [name, treatment])
}

const SPECIAL: ReadonlyMap<string, Treatment> = new Map([
  ...treat('refused', [...CONNECTION_SPECIFIC, 'http2-settings']),
  ...treat('dropped', [':authority', ':method', ':path', ':protocol', ':scheme', 'connection', 'host']),
  // Those that the HTTP/2 of the runtime allows once.
  ...treat(
    'once',
    (
      'access-control-allow-credentials access-control-max-age access-control-request-method age ' +
      'authorization content-encoding content-language content-length content-location content-md5 ' +
      'content-range content-type date dnt etag expires from if-match if-modified-since if-none-match ' +
      'if-range if-unmodified-since last-modified location max-forwards proxy-authorization range ' +
      'referer retry-after tk upgrade-insecure-requests user-agent x-content-type-options'
    ).split(' '),
  ),
])

/** RFC 8441 §5: the key and its answer have no part in the handshake over HTTP/2. */
const KEY = 'sec-websocket-key'

/**
 * The flat field list of a request, pseudo fields first (RFC 9113 §8.3.1), names in lower case; or the
 * caller's mistake.
 */
export function requestFields(head: RequestHead): string[] | ProtocolFailure {
  const { method, scheme, authority, path, protocol, headers } = head
  const fields =
    method === 'CONNECT' && protocol === null
      ? [':method', method, ':authority', authority]
      : [':method', method, ':scheme', scheme, ':authority', authority, ':path', path]
  if (protocol !== null) {
    fields.push(':protocol', protocol)
    return addOrdinary(fields, headers.flat, true) ?? fields
  }
  const first = fields.length
  if (headers.http2Fields !== null) return fields.concat(headers.http2Fields)
  const failure = addOrdinary(fields, headers.flat, false)
  if (failure !== null) return failure
  if (headers.isRepeated) headers.http2Fields = fields.slice(first)
  return fields
}

function addOrdinary(
  fields: string[],
  headers: readonly FieldValue[],
  isHandshake: boolean,
): ProtocolFailure | null {
  for (let i = 0; i < headers.length; i += 2) {
    // The list alternates names and values; names are never arrays.
    const name = lowerCaseName(headers[i] as string)
    const value = headers[i + 1]!
    const treatment = SPECIAL.get(name)
    if (treatment === 'dropped' || (name === KEY && isHandshake)) continue
    if (treatment === 'refused' || (name === 'te' && !isTrailersOnly(value))) {
      const message = `HTTP/1 Connection specific headers are forbidden: "${name}"`
      return mistake('ERR_HTTP2_INVALID_CONNECTION_HEADERS', message)
    }
    if (treatment === 'once' && isGivenTwice(headers, i, name)) {
      return mistake('ERR_HTTP2_HEADER_SINGLE_VALUE', `Header field "${name}" must only have a single value`)
    }
    if (typeof value === 'string') fields.push(name, value)
    else for (const item of value) fields.push(name, item)
  }
  return null
}

/** RFC 9113 §8.2.2: the one value that TE may have. */
function isTrailersOnly(value: FieldValue): boolean {
  return typeof value === 'string' && value.toLowerCase() === 'trailers'
}

/**
 * Whether a field before this one has the same name in other letters: two parts of a program have set it, and
 * each means another value. The same letters twice are a list, which is up to the caller.
 */
function isGivenTwice(headers: readonly FieldValue[], at: number, name: string): boolean {
  for (let i = 0; i < at; i += 2) {
    const other = headers[i] as string
    if (other.length === name.length && other !== headers[at] && lowerCaseName(other) === name) return true
  }
  return false
}

/** A mistake of the caller, with the code that the runtime has for it. */
function mistake(code: string, message: string): ProtocolFailure {
  return { scope: 'stream', blame: 'caller', code, message }
}
