/**
 * A request head as text (RFC 9112 §3): one latin1 string, so that it can be joined with others of the same
 * tick. The request layer has checked every part and reported what was wrong; the checks here are the last
 * line of defence, for no string may reach the wire that could end a line (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../../base/invariant.ts'
import { isFieldValue, isRequestTarget, isToken } from '../ascii.ts'
import type { FieldValue, HeaderList } from '../header-list.ts'
import { linePrefix } from '../header-names.ts'

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

/**
 * The head without its framing field and without the empty line: one of the tails below completes it, or `tail`, with which
 * the text is whole. Joined once: a text that grows piece by piece is a tree, and has to be copied again to be written.
 */
export function encodeRequestHead(head: RequestHead, tail = ''): string {
  const { method, target, connection, upgrade, fields, contentType, trailer } = head
  invariant(method === 'GET' || isToken(method), 'method was not checked')
  invariant(target !== '' && isRequestTarget(target), 'request target was not checked')
  invariant((upgrade !== null) === (connection === 'upgrade'), 'upgrade does not agree with connection')
  const start = startOf(head.host, connection)
  const known = upgrade === null ? knownRest(start, fields) : null
  if (known !== null && contentType === null && trailer === null)
    return `${method} ${target}${known}\r\n${tail}`

  const parts = new Array<string>(fields.flat.length + 6)
  parts[0] = method
  parts[1] = ' '
  parts[2] = target
  parts[3] = known ?? start
  let count = 4
  if (upgrade !== null) {
    invariant(upgrade !== '' && isFieldValue(upgrade), 'upgrade was not checked')
    parts[count++] = `\r\nupgrade: ${upgrade}`
  }
  if (known === null) count = addLines(parts, count, fields.flat)
  if (contentType !== null) {
    invariant(isFieldValue(contentType), 'content type was not checked')
    parts[count++] = `\r\ncontent-type: ${contentType}`
  }
  if (trailer !== null) {
    invariant(isFieldValue(trailer), 'trailer names were not checked')
    parts[count++] = `\r\ntrailer: ${trailer}`
  }
  parts[count++] = '\r\n'
  parts[count] = tail
  return parts.join('')
}

/** The part between the target and the fields, as it was last: the requests of a client all have the same. */
let lastHost = ''
let lastConnection = ''
let lastStart = ''

function startOf(host: string, connection: string): string {
  if (host !== lastHost || connection !== lastConnection) {
    invariant(isFieldValue(host), 'host was not checked')
    lastStart = ` HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}`
    lastHost = host
    lastConnection = connection
  }
  return lastStart
}

/** The end of a head: all but the method and the target. */
interface HeadRest {
  readonly start: string
  readonly text: string
}

/**
 * The end of a head whose fields were sent before; null for the first time. Kept with the fields from the second time on:
 * programs that sign or trace their requests never send a list twice.
 */
function knownRest(start: string, fields: HeaderList): string | null {
  // Only written here.
  const memo = fields.http1Memo as HeadRest | string | null
  if (memo === null || typeof memo === 'string') {
    fields.http1Memo = start
    if (memo !== start) return null
  } else if (memo.start === start) {
    return memo.text
  }
  const parts = [start]
  addLines(parts, 1, fields.flat)
  const rest: HeadRest = { start, text: parts.join('') }
  fields.http1Memo = rest
  return rest.text
}

/** Adds the field lines in the order and letter case given; an array makes one line for each element. Returns the count. */
function addLines(parts: string[], from: number, flat: readonly FieldValue[]): number {
  let count = from
  for (let i = 0; i < flat.length; i += 2) {
    // A HeaderList holds names, which are strings, at even places.
    const prefix = linePrefix(flat[i] as string)
    const value = flat[i + 1]!
    if (typeof value === 'string') {
      parts[count++] = prefix
      parts[count++] = value
    } else {
      for (const item of value) {
        parts[count++] = prefix
        parts[count++] = item
      }
    }
  }
  return count
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
