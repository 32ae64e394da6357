/**
 * A request head as text (RFC 9112 §3): one latin1 string, so that it can be joined with others of the same
 * tick. The request layer has checked every part and reported what was wrong; the checks here are the last
 * line of defence, for no string may reach the wire that could end a line (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../../base/error/invariant.ts'
import { isFieldValue, isRequestTarget, isToken } from '../ascii.ts'
import type { HeaderList } from '../header-list.ts'

export interface RequestHead {
  readonly method: string
  readonly target: string
  /** May be empty, as in `host: `. */
  readonly host: string
  readonly connection: 'keep-alive' | 'close' | 'upgrade'
  /** The protocol to upgrade to; given if and only if `connection` is `upgrade`. */
  readonly upgrade: string | null
  readonly fields: HeaderList
  /** The content type of a body that knows it, when the caller named none. */
  readonly contentType: string | null
  /** Names of the trailers, where they are known. */
  readonly trailer: string | null
}

/** The head without its framing field and without the empty line: one of the tails below completes it. */
export function encodeRequestHead(head: RequestHead): string {
  const { method, target, host, connection, upgrade, contentType, trailer } = head
  invariant(method === 'GET' || isToken(method), 'method was not checked')
  invariant(target !== '' && isRequestTarget(target), 'request target was not checked')
  invariant((upgrade !== null) === (connection === 'upgrade'), 'upgrade does not agree with connection')
  let start = startOf(host, connection)
  if (upgrade !== null) {
    invariant(upgrade !== '' && isFieldValue(upgrade), 'upgrade was not checked')
    start += `upgrade: ${upgrade}\r\n`
  }
  let text = `${method} ${target}${head.fields.linesAfter(start)}`
  if (contentType !== null) {
    invariant(isFieldValue(contentType), 'content type was not checked')
    text += `content-type: ${contentType}\r\n`
  }
  if (trailer !== null) {
    invariant(isFieldValue(trailer), 'trailer names were not checked')
    text += `trailer: ${trailer}\r\n`
  }
  return text
}

/** The part between the target and the fields, as it was last: the requests of a client all have the same. */
let lastHost = ''
let lastConnection = ''
let lastStart = ''

function startOf(host: string, connection: string): string {
  if (host !== lastHost || connection !== lastConnection) {
    invariant(isFieldValue(host), 'host was not checked')
    lastStart = ` HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`
    lastHost = host
    lastConnection = connection
  }
  return lastStart
}

/** Completes a head whose body is counted. */
export function contentLengthTail(length: number): string {
  invariant(Number.isSafeInteger(length) && length >= 0, 'body length is not a whole number')
  return `content-length: ${length}\r\n\r\n`
}

/** Completes a head whose body is chunked. */
export const CHUNKED_TAIL = 'transfer-encoding: chunked\r\n\r\n'

/** Completes a head without a body. */
export const NO_BODY_TAIL = '\r\n'
