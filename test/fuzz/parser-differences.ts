/**
 * Intended differences between our client and the runtime's, each with its reason, and recognised by the bytes and the
 * two outcomes. A difference that is not listed is a bug in one of the two.
 */
import { HeaderBlock } from '../../src/protocol/header-block.ts'
import { permittedTrailers } from '../../src/protocol/trailer-names.ts'
import type { Outcome, RequestShape } from './parser-outcome.ts'

export interface Comparison {
  readonly shape: RequestShape
  /** The bytes of the server, latin1. */
  readonly text: string
  readonly ours: Outcome
  readonly theirs: Outcome
}

export interface Difference {
  readonly id: string
  readonly what: string
  readonly why: string
  /** A request, and the answer that shows the difference. */
  readonly example: readonly [shape: RequestShape, text: string]
  matches(comparison: Comparison): boolean
}

/**
 * Versions of the runtime's parser for which the list was verified. With another one, an unlisted difference is reported
 * but not a failure: it may be theirs.
 */
export const REVIEWED_PARSERS: readonly string[] = ['9.3.1']

const BARE_LF = /(?:^|[^\r])\n/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const REASON_WITH_CONTROL = /^HTTP\/\d\.\d \d{3} [^\r\n]*[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/m
const BARE_CR = /\r(?!\n)/

/** We refuse it with this code; the runtime accepts it, or more of it. */
function weRefuse({ ours }: Comparison, ...codes: readonly string[]): boolean {
  return !ours.accepted && codes.includes(ours.error)
}

/** The runtime accepts it; we read another body, or none. */
function weReadAnother({ ours, theirs }: Comparison): boolean {
  return theirs.accepted && (!ours.accepted || theirs.body !== ours.body)
}

export const DIFFERENCES: readonly Difference[] = [
  {
    id: 'bare-lf',
    what: 'a line that ends with LF alone, or an LF before the status line',
    why: 'RFC 9112 §2.2 lets a recipient take it and asks nobody to; parsers that disagree split responses',
    example: ['GET', '\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_CR_EXPECTED') && BARE_LF.test(c.text),
  },
  {
    id: 'bare-cr',
    what: 'a CR without LF, in front of the status line, in the head or in the framing of chunks',
    why: 'RFC 9112 §2.2: a bare CR is invalid wherever it stands outside of content',
    example: ['GET', '\rHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) =>
      weRefuse(c, 'HPE_STRICT', 'HPE_LF_EXPECTED') &&
      /xpected LF after/.test(c.ours.message) &&
      BARE_CR.test(c.text),
  },
  {
    id: 'chunk-extension-grammar',
    what: 'a chunk extension without a name, with whitespace, or with other characters than its grammar has',
    why: 'RFC 9112 §7.1.1; no sender may generate the whitespace, and CVE-2021-22960 is about guessing here',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;=1\r\nhello\r\n0\r\n\r\n'],
    matches: (c) =>
      weRefuse(c, 'HPE_STRICT') && c.ours.message.includes('Invalid character in chunk extensions'),
  },
  {
    id: 'chunked-twice',
    what: '`chunked` named twice among the transfer codings, with another one in between',
    why: 'RFC 9112 §6.1: a sender must not apply chunked more than once; named twice in a row it is read as once',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip, chunked\r\n\r\n0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_INVALID_TRANSFER_ENCODING') && /chunked.*chunked/is.test(c.text),
  },
  {
    id: 'status-below-100',
    what: 'a status code below 100',
    why: 'RFC 9110 §15: the first digit is 1 to 5; above that we are lenient as everybody is',
    example: ['GET', 'HTTP/1.1 099 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_INVALID_STATUS') && /HTTP\/\d\.\d 0\d\d/.test(c.text),
  },
  {
    id: 'fields-left-out-of-trailers',
    what: 'Content-Length, Set-Cookie and others among the trailers',
    why: 'RFC 9110 §6.5.1: they mean nothing there; we leave them out, they refuse some and hand on the others',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\ncontent-length: 3\r\n\r\n'],
    matches: ({ ours, theirs, text }) =>
      ours.accepted &&
      (theirs.accepted
        ? theirs.trailers.length > ours.trailers.length &&
          isSame(permittedTrailers(new HeaderBlock([...theirs.trailers])).flat, ours.trailers)
        : /\r\n0[^\r\n]*\r\n(?:.*\r\n)*?(?:content-length|transfer-encoding):/i.test(text)),
  },
  {
    id: 'folded-values',
    what: 'a value that goes on in the next line',
    why: 'RFC 9112 §5.2: a user agent must replace a fold by spaces; a folded length is refused',
    example: ['GET', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\ncontent-length: 0\r\n\r\n'],
    matches: ({ theirs, text }) => !theirs.accepted && /\r\n[ \t]/.test(text),
  },
  {
    id: 'blanks-after-chunk-size',
    what: 'blanks between the size of a chunk and its line end or extensions',
    why: 'RFC 9112 §7.1.1 and servers that pad the size: there is only one way to read it',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0 \r\n\r\n'],
    matches: ({ theirs, text }) =>
      !theirs.accepted &&
      theirs.error === 'HPE_INVALID_CHUNK_SIZE' &&
      /\r\n[0-9a-f]+[ \t]+[\r\n;]/i.test(text),
  },
  {
    id: 'other-versions',
    what: 'a status line of HTTP/0.9 or HTTP/2.0',
    why: 'RFC 9112 §2.3: their messages are framed otherwise, so whoever writes this does not know what it speaks',
    example: ['GET', 'HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_INVALID_VERSION') && /HTTP\/(?:0\.9|2\.0)/.test(c.text),
  },
  {
    id: 'interim-answer-to-connect',
    what: '1xx before the answer to CONNECT',
    why: 'RFC 9110 §15.2: interim responses come before the final one; they take the first for a tunnel',
    example: ['CONNECT', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
    matches: ({ shape, text, theirs }) =>
      shape === 'CONNECT' && theirs.upgraded && theirs.status! < 200 && /HTTP\/\d\.\d 1\d\d/.test(text),
  },
  {
    id: 'other-protocols',
    what: 'a status line of RTSP or ICE',
    why: 'RFC 9112 §4: the version begins with `HTTP`',
    example: ['GET', 'ICE/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_INVALID_CONSTANT') && /^(?:RTSP|ICE)\//m.test(c.text),
  },
  {
    id: 'empty-list-element',
    what: '`chunked` followed by a comma and nothing',
    why: 'RFC 9110 §5.6.1.2: a recipient ignores empty elements of a list, so chunked is the last coding',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked,\r\n\r\n0\r\n\r\n'],
    matches: (c) => weReadAnother(c) && /^transfer-encoding:.*chunked[ \t]*,[ \t,]*\r$/im.test(c.text),
  },
  {
    id: 'tab-behind-chunked',
    what: '`chunked` followed by a tab',
    why: 'RFC 9110 §5.5: whitespace around a value is none of it, and a tab is whitespace; they see another coding',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\t\r\n\r\n0\r\n\r\n'],
    matches: (c) => weReadAnother(c) && /^transfer-encoding:.*chunked *\t[ \t]*\r$/im.test(c.text),
  },
  {
    id: 'tab-behind-length',
    what: 'a Content-Length followed by a tab',
    why: 'RFC 9110 §5.5: whitespace around a value is none of it, and a tab is whitespace; they take it for a part of the number',
    example: ['GET', 'HTTP/1.1 200 OK\r\ncontent-length: 2\t\r\n\r\nok'],
    matches: ({ theirs, text }) =>
      theirs.error === 'HPE_INVALID_CONTENT_LENGTH' && /^content-length: *\d+ *\t[ \t]*\r$/im.test(text),
  },
  {
    id: 'control-in-reason',
    what: 'a control character in the reason phrase',
    why: 'RFC 9112 §4: tabs, spaces, visible characters and obs-text are all there may be',
    example: ['GET', 'HTTP/1.1 200 \x7f\r\ncontent-length: 0\r\n\r\n'],
    matches: (c) => weRefuse(c, 'HPE_INVALID_STATUS') && REASON_WITH_CONTROL.test(c.text),
  },
  {
    id: 'unasked-upgrade',
    what: '101 to a request that asked for no upgrade, or without the fields that name the protocol',
    why: 'RFC 9110 §7.8: a server must not switch to what was not offered, and must say what it switches to',
    example: ['GET', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    matches: (c) => weRefuse(c, 'BAD_UPGRADE') && /HTTP\/\d\.\d 101/.test(c.text),
  },
  {
    id: 'length-above-2-53',
    what: 'a Content-Length that a double cannot hold exactly',
    why: 'RFC 9110 §8.6 warns of overflow: a rounded length is a wrong one',
    example: ['HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 9007199254740993\r\n\r\n'],
    matches: (c) =>
      weRefuse(c, 'HPE_INVALID_CONTENT_LENGTH') && /^content-length:[ \t]*\d{16,}/im.test(c.text),
  },
  {
    id: 'close-in-interim',
    what: 'anything behind a 1xx that is of HTTP/1.0 or has `connection: close`',
    why: 'RFC 9112 §9.6: the connection closes after the final response, which is still to come',
    example: ['GET', 'HTTP/1.0 103 X\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    matches: ({ theirs, text }) =>
      theirs.error === 'HPE_CLOSED_CONNECTION' &&
      theirs.status === null &&
      /^HTTP\/(?:0\.9|1\.0) 1\d\d|^HTTP\/\d\.\d 1\d\d[^\r]*\r\n(?:[^\r]+\r\n)*connection:[^\r]*close/im.test(
        text,
      ),
  },
  {
    id: 'empty-coding-with-length',
    what: 'an empty Transfer-Encoding beside a Content-Length',
    why: 'RFC 9112 §6.3: both fields in one message are an attempt at smuggling, whatever they say',
    example: ['GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding:\r\ncontent-length: 2\r\n\r\nok'],
    matches: (c) =>
      weRefuse(c, 'HPE_INVALID_CONTENT_LENGTH', 'HPE_INVALID_TRANSFER_ENCODING') &&
      /^transfer-encoding:[ \t]*\r$/im.test(c.text) &&
      /^content-length:/im.test(c.text),
  },
  {
    id: 'many-empty-lines',
    what: 'more than eight empty lines before the status line',
    why: 'RFC 9112 §2.2 has a server skip one at least; we skip a few, and not for ever',
    example: ['GET', `${'\r\n'.repeat(9)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`],
    matches: (c) => weRefuse(c, 'HPE_INVALID_CONSTANT') && c.ours.message.includes('too many empty lines'),
  },
]

/** Whether a caller could distinguish the two. */
export function differs(ours: Outcome, theirs: Outcome): boolean {
  if (ours.accepted !== theirs.accepted) return true
  const bothHaveHead = ours.status !== null && theirs.status !== null
  if (bothHaveHead && (ours.status !== theirs.status || !isSame(ours.headers, theirs.headers))) return true
  if (!ours.accepted) return false
  return (
    ours.upgraded !== theirs.upgraded ||
    ours.reason !== theirs.reason ||
    ours.body !== theirs.body ||
    !isSame(ours.trailers, theirs.trailers)
  )
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
