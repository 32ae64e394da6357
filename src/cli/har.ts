/**
 * A HAR 1.2 archive of one exchange (http://www.softwareishard.com/blog/har-12-spec/). What does not apply or
 * is not known is -1 where the format wants a number.
 */
import type { Readable } from 'node:stream'
import { type Cookie, getSetCookies, Headers } from '../index.ts'
import { contentOf, textOf } from './body.ts'
import type { Exchange } from './exchange.ts'
import { EMPTY_RESPONSE, type Field, field, type Incoming, type Outgoing } from './message.ts'
import type { Phases } from './phases.ts'
import { redactArchived, redactParameter, redactUrls } from './secrets.ts'

/** Milliseconds with as many decimals as the clock has; the format's -1 for none. */
const duration = (value: number | null | undefined): number =>
  value == null ? -1 : Math.round(value * 1000) / 1000

const named = ([name, value]: readonly [string, string]): object => ({ name, value })

/** How fields, parameters and the URL are shown. */
type Shown = typeof AS_SENT
const AS_SENT = {
  field: (field: Field) => field,
  parameter: (pair: Field) => pair,
  url: (url: string) => url,
}
/** People attach archives to reports of bugs. */
const WITHOUT_SECRETS: Shown = { field: redactArchived, parameter: redactParameter, url: redactUrls }

/** The archive as an object for `JSON.stringify`. */
export function harOf(exchanges: readonly Exchange[], version: string, keepsSecrets: boolean): object {
  const entries = exchanges.map((exchange) => entryOf(exchange, keepsSecrets))
  return { log: { version: '1.2', creator: { name: 'ventuno', version }, entries } }
}

function entryOf(exchange: Exchange, keepsSecrets: boolean): object {
  const { startedAt, response, connection, failure } = exchange
  const request = { ...exchange.request, headers: exchange.sent }
  const shown = keepsSecrets ? AS_SENT : WITHOUT_SECRETS
  const timings = timingsOf(exchange.phases)
  const { ssl: _, ...parts } = timings
  const httpVersion = connection?.protocol.startsWith('h2') ? 'HTTP/2.0' : 'HTTP/1.1'
  return {
    startedDateTime: startedAt.toISOString(),
    time: duration(Object.values(parts).reduce((sum, part) => sum + Math.max(0, part), 0)),
    request: requestOf(request, httpVersion, shown),
    // An entry must have a response; browsers write status 0 when none arrived.
    response: responseOf(response ?? EMPTY_RESPONSE, httpVersion, shown),
    cache: {},
    timings,
    ...(connection?.remoteAddress ? { serverIPAddress: connection.remoteAddress } : {}),
    ...(connection?.localPort ? { connection: String(connection.localPort) } : {}),
    ...(failure ? { comment: `${failure.code}: ${failure.message}` } : {}),
  }
}

/** In this format `connect` includes `ssl`, and `send`, `wait` and `receive` are required. */
function timingsOf(phases: Phases | null): Record<string, number> {
  return {
    blocked: duration(phases?.blocked),
    dns: duration(phases?.dns),
    connect: duration(phases?.connect == null ? null : phases.connect + (phases.tls ?? 0)),
    send: duration(phases?.send ?? 0),
    wait: duration(phases?.wait ?? 0),
    receive: duration(phases?.receive ?? 0),
    ssl: duration(phases?.tls),
  }
}

function requestOf(
  { method, url, headers, body, size }: Outgoing,
  httpVersion: string,
  shown: Shown,
): object {
  return {
    method,
    url: shown.url(url.href),
    httpVersion,
    cookies: headers
      .filter(([name]) => name.toLowerCase() === 'cookie')
      .flatMap(cookiePairs)
      .map(({ name, value }) => ({ name, value: shown.field(['cookie', value])[1] })),
    headers: headers.map((each) => named(shown.field(each))),
    queryString: [...url.searchParams].map((pair) => named(shown.parameter(pair))),
    ...(body && { postData: postDataOf(body, field(headers, 'content-type') ?? '', shown) }),
    headersSize: -1,
    bodySize: size,
  }
}

function cookiePairs([, value]: Field): { readonly name: string; readonly value: string }[] {
  const parts = value.split(';').map((part) => part.trim())
  return parts.filter(Boolean).map((part) => {
    const equals = part.indexOf('=')
    return { name: part.slice(0, Math.max(0, equals)), value: part.slice(equals + 1) }
  })
}

/**
 * Parameters or text, not both. The format has no encoding for what is sent: bytes that are no text are
 * counted, not shown.
 */
function postDataOf(body: Buffer | Readable, mimeType: string, shown: Shown): object {
  if (!Buffer.isBuffer(body)) return { mimeType, text: '', comment: 'a file that was uploaded' }
  const text = textOf(body, mimeType)
  if (text === null) return { mimeType, text: '', comment: `${body.length} bytes, no text` }
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(mimeType)
  return {
    mimeType,
    ...(isForm
      ? { params: [...new URLSearchParams(text)].map((pair) => named(shown.parameter(pair))) }
      : { text }),
  }
}

function responseOf(response: Incoming, httpVersion: string, shown: Shown): object {
  const { status, statusText, headers, size } = response
  const own = headers.filter(([name]) => name.toLowerCase() === 'set-cookie')
  return {
    status,
    statusText,
    httpVersion,
    cookies: getSetCookies(new Headers(own as [string, string][])).map((cookie) =>
      cookieOf({ ...cookie, value: shown.field(['set-cookie', cookie.value])[1] }),
    ),
    headers: headers.map((each) => named(shown.field(each))),
    content: harContent(response),
    redirectURL: shown.url(field(headers, 'location') ?? ''),
    headersSize: -1,
    bodySize: size,
  }
}

function harContent(response: Incoming): object {
  const { mimeType, bytes, text, isWhole } = contentOf(response)
  const head = { size: isWhole ? bytes.length : response.size, mimeType: mimeType || 'x-unknown' }
  if (!isWhole) return { ...head, comment: 'too large to be kept' }
  return {
    ...head,
    compression: bytes.length - response.size,
    ...(text === null ? { text: bytes.toString('base64'), encoding: 'base64' } : { text }),
  }
}

/** Attributes that are undefined are left out by `JSON.stringify`. */
function cookieOf({ name, value, path, domain, expires, httpOnly = false, secure = false }: Cookie): object {
  const until = new Date(expires ?? Number.NaN)
  const day = Number.isNaN(until.getTime()) ? undefined : until.toISOString()
  return { name, value, path, domain, expires: day, httpOnly, secure }
}
