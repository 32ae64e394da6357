/**
 * Where a response ends and what happens to its connection: the meaning of the five fields that govern that
 * (RFC 9112 §6, §9; RFC 9110 §7.8), and RFC 9112 §6.3 as one pure function. It knows nothing of parsing lines
 * or of sinks. Where RFC 9112 lets a recipient repair a doubtful length, this one refuses: a length that two
 * parties can read differently is how responses are smuggled.
 */
import { COMMA, equalsIgnoringCase, HTAB, NINE, SP, ZERO } from '../ascii.ts'
import {
  HPE_INVALID_CONTENT_LENGTH,
  HPE_INVALID_TRANSFER_ENCODING,
  HPE_UNEXPECTED_CONTENT_LENGTH,
} from './failures.ts'

const TIMEOUT_PARAMETER = 'timeout='

/** The meaning of a request for the framing of its response. */
export type RequestKind = 'plain' | 'head' | 'connect' | 'upgrade'

export function requestKind(method: string, wantsUpgrade: boolean): RequestKind {
  if (method === 'CONNECT') return 'connect'
  if (wantsUpgrade) return 'upgrade'
  return method === 'HEAD' ? 'head' : 'plain'
}

export type Body = 'none' | 'counted' | 'chunked' | 'until-close'

/**
 * What follows a response head. `tunnel`: HTTP is over on this connection, after a 101 that was asked for, or
 * the answer to CONNECT. `interim`: the final head is still to come.
 */
export type Framing = Body | 'tunnel' | 'interim' | 'unwanted-upgrade'

/** The fields of one head that decide framing and reuse, filled while the head is parsed. */
export class FramingFields {
  /** -1: not given. */
  contentLength = -1
  connectionClose = false
  connectionKeepAlive = false
  connectionUpgrade = false
  upgrade = false
  /** Seconds of the `keep-alive: timeout=` hint. */
  keepAliveHint: number | null = null
  /** `chunked` follows itself: one coding, announced twice. */
  repeatsChunked = false
  /** The last transfer coding named so far. */
  #coding: 'none' | 'chunked' | 'other' = 'none'
  #chunkedSeen = false

  get hasTransferEncoding(): boolean {
    return this.#coding !== 'none'
  }

  /** Whether `chunked` is the last coding (RFC 9112 §6.1). */
  get chunked(): boolean {
    return this.#coding === 'chunked'
  }

  /**
   * Takes note of a field, whose name is in lower case. Returns the failure code of one that breaks the
   * framing.
   */
  add(name: string, bytes: Buffer, start: number, end: number): string | null {
    // Few names have these lengths, so most fields are done with here.
    switch (name.length) {
      case 7:
      case 10:
      case 14:
      case 17:
        return this.#addNamed(name, bytes, start, end)
      default:
        return null
    }
  }

  #addNamed(name: string, bytes: Buffer, start: number, end: number): string | null {
    switch (name) {
      case 'upgrade':
        // An empty one names no protocol to switch to.
        if (end > start) this.upgrade = true
        return null
      case 'connection':
        this.#addConnection(bytes, start, end)
        return null
      case 'keep-alive':
        this.#addKeepAlive(bytes, start, end)
        return null
      case 'content-length':
        return this.#addContentLength(bytes, start, end)
      case 'transfer-encoding':
        return this.#addTransferEncoding(bytes, start, end)
      default:
        return null
    }
  }

  #addConnection(bytes: Buffer, start: number, end: number): void {
    for (let from = start; from <= end; ) {
      const to = elementEnd(bytes, from, end)
      const first = skipSpace(bytes, from, to)
      const last = trimSpace(bytes, first, to)
      if (equalsIgnoringCase(bytes, first, last, 'close')) this.connectionClose = true
      else if (equalsIgnoringCase(bytes, first, last, 'keep-alive')) this.connectionKeepAlive = true
      else if (equalsIgnoringCase(bytes, first, last, 'upgrade')) this.connectionUpgrade = true
      from = to + 1
    }
  }

  /** The first `timeout=<digits>` counts, whatever surrounds it: servers write `timeout=5s` and worse. */
  #addKeepAlive(bytes: Buffer, start: number, end: number): void {
    if (this.keepAliveHint !== null) return
    const width = TIMEOUT_PARAMETER.length
    for (let at = start; at + width < end; at++) {
      if (!isDigit(bytes[at + width]!) || !equalsIgnoringCase(bytes, at, at + width, TIMEOUT_PARAMETER))
        continue
      let seconds = 0
      for (let i = at + width; i < end && isDigit(bytes[i]!); i++) {
        seconds = Math.min(seconds * 10 + bytes[i]! - ZERO, Number.MAX_SAFE_INTEGER)
      }
      this.keepAliveHint = seconds
      return
    }
  }

  #addContentLength(bytes: Buffer, start: number, end: number): string | null {
    if (this.#coding !== 'none') return HPE_INVALID_CONTENT_LENGTH
    if (this.contentLength !== -1) return HPE_UNEXPECTED_CONTENT_LENGTH
    if (start === end) return HPE_INVALID_CONTENT_LENGTH
    let length = 0
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (!isDigit(byte)) return HPE_INVALID_CONTENT_LENGTH
      length = length * 10 + byte - ZERO
      if (length > Number.MAX_SAFE_INTEGER) return HPE_INVALID_CONTENT_LENGTH
    }
    this.contentLength = length
    return null
  }

  #addTransferEncoding(bytes: Buffer, start: number, end: number): string | null {
    if (this.contentLength !== -1) return HPE_INVALID_TRANSFER_ENCODING
    // An empty value still announces a coding, though an unknown one: the body then ends with the connection.
    if (this.#coding === 'none') this.#coding = 'other'
    for (let from = start; from <= end; ) {
      const to = elementEnd(bytes, from, end)
      const first = skipSpace(bytes, from, to)
      const last = trimSpace(bytes, first, to)
      if (equalsIgnoringCase(bytes, first, last, 'chunked')) {
        // RFC 9112 §6.1: chunked is applied once at most. A server and its framework may both set the field
        // and mean one coding; with another coding in between, some recipients count two.
        if (this.#chunkedSeen) {
          if (this.#coding !== 'chunked') return HPE_INVALID_TRANSFER_ENCODING
          this.repeatsChunked = true
        }
        this.#chunkedSeen = true
        this.#coding = 'chunked'
      } else if (first !== last) {
        this.#coding = 'other'
      }
      from = to + 1
    }
    return null
  }
}

/** Why `add` refused a field value, in the words that users of HTTP parsers know. */
export function framingReason(
  code: string,
  fields: FramingFields,
  bytes: Buffer,
  start: number,
  end: number,
): string {
  if (code === HPE_UNEXPECTED_CONTENT_LENGTH) return 'Duplicate Content-Length'
  if (code === HPE_INVALID_TRANSFER_ENCODING) {
    return fields.contentLength === -1
      ? 'chunked applied twice, around another transfer coding, in Transfer-Encoding'
      : "Transfer-Encoding can't be present with Content-Length"
  }
  if (fields.hasTransferEncoding) return "Content-Length can't be present with Transfer-Encoding"
  if (start === end) return 'Empty Content-Length'
  const digits = /^[0-9]*$/.test(bytes.toString('latin1', start, end))
  return digits ? 'Content-Length overflow' : 'Invalid character in Content-Length'
}

/** RFC 9112 §6.3, with the answer a client gives to an upgrade that it did not ask for. */
export function responseFraming(request: RequestKind, status: number, fields: FramingFields): Framing {
  if (status < 200) return interimFraming(request, status, fields)
  if (request === 'connect') return 'tunnel'
  if (request === 'head' || status === 204 || status === 304) return 'none'
  if (fields.chunked) return 'chunked'
  if (fields.hasTransferEncoding || fields.contentLength === -1) return 'until-close'
  return fields.contentLength === 0 ? 'none' : 'counted'
}

/**
 * An interim response ends at its empty line, whatever lengths it names (RFC 9112 §6.3), and any may come
 * unasked, 100 among them (RFC 9110 §15.2).
 */
function interimFraming(request: RequestKind, status: number, fields: FramingFields): Framing {
  if (status !== 101) return 'interim'
  return request === 'upgrade' && fields.upgrade && fields.connectionUpgrade ? 'tunnel' : 'unwanted-upgrade'
}

/**
 * Whether the peer lets the connection live on after this response (RFC 9112 §9.3). `version` is 11 for
 * HTTP/1.1, 10 for HTTP/1.0. Transfer-Encoding from before HTTP/1.1 is faulty framing: read it, then close
 * (RFC 9112 §6.1). So is a repeated `chunked`: if an intermediary sees another end of the body, the bytes
 * that follow are its response and must not become ours.
 */
export function keepsAlive(version: number, framing: Framing, fields: FramingFields): boolean {
  if (framing === 'until-close' || fields.connectionClose || fields.repeatsChunked) return false
  return version === 11 || (fields.connectionKeepAlive && !fields.hasTransferEncoding)
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}

function elementEnd(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== COMMA) at++
  return at
}

function skipSpace(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && (bytes[at] === SP || bytes[at] === HTAB)) at++
  return at
}

function trimSpace(bytes: Buffer, from: number, end: number): number {
  let at = end
  while (at > from && (bytes[at - 1] === SP || bytes[at - 1] === HTAB)) at--
  return at
}
