/**
 * The mutator's knowledge about each kind of traffic: the offsets of its units and length fields, and its significant
 * words. Blind changes rarely get past the first check of a parser; changes with this knowledge do.
 */
import type { CorpusKind } from './corpus.ts'
import type { Random } from './random.ts'

export interface Format {
  /** Offsets of units (lines, frames, blocks), including the end, in ascending order. */
  boundaries(bytes: Buffer): number[]
  /** Changes a length, or another field of a unit's head, in place. */
  editField(bytes: Buffer, random: Random): void
  readonly words: readonly Buffer[]
}

const FRAME_HEAD = 9

/** Boundary values of arithmetic and limits. */
const EDGES: readonly number[] = [0, 1, 2, 5, 8, 125, 126, 127, 128, 255, 16_384, 16_385, 65_535, 0xffffff]

function latin1(...words: string[]): Buffer[] {
  return words.map((word) => Buffer.from(word, 'latin1'))
}

/** Writes the low octets of a number. */
function put(bytes: Buffer, at: number, width: number, value: number): void {
  for (let i = 0; i < width && at + i < bytes.length; i++) {
    bytes[at + i] = Math.floor(value / 2 ** (8 * (width - 1 - i)))
  }
}

/** Offsets after each LF, that is of lines; long runs without one are one unit. */
function lineStarts(bytes: Buffer): number[] {
  const starts = [0]
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) starts.push(at + 1)
  if (starts.at(-1) !== bytes.length) starts.push(bytes.length)
  return starts
}

/** Offsets of units whose length `next` reads from their head. */
function chained(bytes: Buffer, next: (at: number) => number): number[] {
  const starts = [0]
  for (let at = 0; at < bytes.length; ) {
    at = Math.min(bytes.length, next(at))
    starts.push(at)
  }
  return starts
}

/** Changes a digit, or a whole number, somewhere in text. */
function editNumber(bytes: Buffer, random: Random): void {
  const from = random.below(bytes.length)
  for (let i = 0; i < bytes.length; i++) {
    const at = (from + i) % bytes.length
    const byte = bytes[at]!
    if (byte < 0x30 || byte > 0x39) continue
    bytes[at] = random.pick([0x30, 0x31, 0x39, 0x66, 0x46, 0x2d, 0x2b, 0x20, 0x30 + random.below(10)])
    if (!random.oneIn(3)) return
  }
}

function unitAt(bytes: Buffer, format: Pick<Format, 'boundaries'>, random: Random): number {
  const starts = format.boundaries(bytes)
  return starts[random.below(starts.length - 1)] ?? 0
}

const http1: Format = {
  boundaries: lineStarts,
  editField: editNumber,
  words: latin1(
    ...['\r\n', '\r\n\r\n', '\n', '\r', ' ', '\t', ':', ';', ',', '\0', '0\r\n\r\n', '5\r\nhello\r\n'],
    ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.0 200 OK\r\n', 'HTTP/1.1 204 \r\n', 'HTTP/1.1 103 \r\n\r\n'],
    ...['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 101 \r\n', 'HTTP/1.1 304 X\r\n', 'HTTP/2.0 200 \r\n'],
    ...['content-length: 5\r\n', 'content-length: 0\r\n', 'Content-Length: 05\r\n', 'content-length:\r\n'],
    ...[
      'transfer-encoding: chunked\r\n',
      'Transfer-Encoding: gzip\r\n',
      'transfer-encoding: gzip, chunked\r\n',
    ],
    ...['transfer-encoding: chunked, gzip\r\n', 'transfer-encoding:\r\n', 'chunked', ', chunked', 'identity'],
    ...['connection: close\r\n', 'connection: keep-alive\r\n', 'connection: upgrade\r\n', 'upgrade: x\r\n'],
    ...[
      'keep-alive: timeout=5\r\n',
      'a: b\r\n',
      ' folded\r\n',
      'a : b\r\n',
      'x',
      '__proto__: 1\r\n',
      '\x80\xff',
    ],
    ...[';ext', ';ext=1', ';ext="a\\"b"', 'ffffffffffffffff', '0000000000000005', '-1', '+5', '0x5', '\x7f'],
  ),
}

const http2: Format = {
  boundaries: (bytes) =>
    chained(bytes, (at) =>
      at + FRAME_HEAD > bytes.length ? bytes.length : at + FRAME_HEAD + bytes.readUIntBE(at, 3),
    ),
  editField(bytes, random) {
    const at = unitAt(bytes, http2, random)
    switch (random.below(5)) {
      case 0:
        put(bytes, at, 3, random.oneIn(2) ? random.pick(EDGES) : random.below(64))
        return
      case 1:
        put(bytes, at + 3, 1, random.below(14))
        return
      case 2:
        put(bytes, at + 4, 1, random.pick([0, 1, 4, 5, 8, 9, 12, 13, 0x20, 0x24, 0x25, 0x2d, 0xff]))
        return
      case 3:
        put(bytes, at + 5, 4, random.pick([0, 1, 2, 3, 5, 7, 9, 11, 99, 0x7fff_ffff, 0x8000_0001]))
        return
      default:
        // A field of the payload: a setting, an increment, an error code, the padding.
        put(bytes, at + FRAME_HEAD + random.small(12), random.pick([1, 2, 4]), random.pick(EDGES))
    }
  },
  words: [
    Buffer.from('000000040100000000', 'hex'),
    Buffer.from('000000040000000000', 'hex'),
    Buffer.from('00000604000000000000040000ffff', 'hex'),
    Buffer.from('0000060400000000000004ffffffff', 'hex'),
    Buffer.from('000006040000000000000500004000', 'hex'),
    Buffer.from('000006040000000000000300000000', 'hex'),
    Buffer.from('0000080600000000000102030405060708', 'hex'),
    Buffer.from('0000080601000000000102030405060708', 'hex'),
    Buffer.from('000008070000000000000000010000000b', 'hex'),
    Buffer.from('00000807000000000000000000000000', 'hex'),
    Buffer.from('00000403000000000100000007', 'hex'),
    Buffer.from('00000403000000000100000000', 'hex'),
    Buffer.from('0000040800000000007fffffff', 'hex'),
    Buffer.from('00000408000000000100000000', 'hex'),
    Buffer.from('000001010400000001' + '88', 'hex'),
    Buffer.from('000001010500000001' + '89', 'hex'),
    Buffer.from('000001010500000003' + '88', 'hex'),
    Buffer.from('000001010000000001' + '88', 'hex'),
    Buffer.from('000000090400000001', 'hex'),
    Buffer.from('000000000100000001', 'hex'),
    Buffer.from('000000000000000001', 'hex'),
    Buffer.from('000003000100000003' + '616263', 'hex'),
    Buffer.from('0000050500000000010000000288', 'hex'),
    Buffer.from('0000050200000000010000000010', 'hex'),
  ],
}

const websocket: Format = {
  boundaries: (bytes) =>
    chained(bytes, (at) => {
      const short = (bytes[at + 1] ?? 0) & 0x7f
      if (short < 126) return at + 2 + short
      if (short === 126) return at + 4 > bytes.length ? bytes.length : at + 4 + bytes.readUInt16BE(at + 2)
      return at + 10 > bytes.length ? bytes.length : at + 10 + bytes.readUInt32BE(at + 6)
    }),
  editField(bytes, random) {
    const at = unitAt(bytes, websocket, random)
    const first = bytes[at] ?? 0
    switch (random.below(4)) {
      case 0:
        put(bytes, at, 1, (first & 0xf0) | random.below(16))
        return
      case 1:
        put(bytes, at, 1, first ^ random.pick([0x80, 0x40, 0x20, 0x10, 0xc0]))
        return
      case 2:
        put(bytes, at + 1, 1, random.pick([0, 1, 2, 5, 124, 125, 126, 127, 128, 254, 255]))
        return
      default:
        put(bytes, at + 2, random.pick([2, 4, 8]), random.pick([...EDGES, 0x7fff_ffff, 2 ** 40, 2 ** 53]))
    }
  },
  words: [
    ...[0x00, 0x01, 0x02, 0x80, 0x81, 0x82, 0x89, 0x8a, 0x88, 0xc1, 0xc2, 0x40].map((first) =>
      Buffer.of(first, 0),
    ),
    Buffer.from('880203e8', 'hex'),
    Buffer.from('880203ed', 'hex'),
    Buffer.from('8103efbbbf', 'hex'),
    Buffer.from('8102c328', 'hex'),
    Buffer.from('c107f248cdc9c90700', 'hex'),
    Buffer.from('0000ffff', 'hex'),
    Buffer.from('817f0000000000000001', 'hex'),
    Buffer.from('817fffffffffffffffff', 'hex'),
    Buffer.from('827e0000', 'hex'),
  ],
}

const hpack: Format = {
  boundaries: (bytes) =>
    chained(bytes, (at) => (at + 2 > bytes.length ? bytes.length : at + 2 + bytes.readUInt16BE(at))),
  editField(bytes, random) {
    const at = unitAt(bytes, hpack, random)
    if (random.oneIn(4)) put(bytes, at, 2, random.oneIn(2) ? random.below(200) : random.pick(EDGES))
    else put(bytes, at + 2 + random.small(20), 1, random.oneIn(2) ? random.pick(EDGES) : random.next())
  },
  words: [
    Buffer.of(0x80),
    Buffer.of(0xbe),
    Buffer.of(0xbf),
    Buffer.of(0xc0),
    Buffer.of(0xff, 0x00),
    Buffer.of(0xff, 0x80, 0x80, 0x80, 0x80, 0x01),
    Buffer.of(0x20),
    Buffer.of(0x3f, 0xe1, 0x1f),
    Buffer.of(0x3f, 0xff, 0xff, 0x7f),
    Buffer.of(0x00, 0x00, 0x00),
    Buffer.of(0x40, 0x01, 0x61, 0x01, 0x62),
    Buffer.of(0x41, 0x83, 0xff, 0xff, 0xff),
    Buffer.of(0x10, 0x81, 0x1f, 0x81, 0x1f),
    Buffer.of(0x40, 0x81, 0xfe, 0x01, 0x62),
    Buffer.of(0x84, 0xff, 0xff, 0xff, 0xfc),
  ],
}

const cookies: Format = {
  boundaries(bytes) {
    const starts = [0]
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x3b) starts.push(at + 1)
    if (starts.at(-1) !== bytes.length) starts.push(bytes.length)
    return starts
  },
  editField: editNumber,
  words: latin1(
    ...[';', '=', '; ', ',', '"', ' ', '\t', '\0', '\r\n', '%0d%0a', '\x7f', '\xff', 'a=b', '=', '=b', 'a='],
    ...['; Secure', '; HttpOnly', '; Path=/', '; Path=', '; Domain=.a.test', '; Domain=', '; Max-Age=0'],
    ...['; Max-Age=-1', '; Max-Age=1e3', '; SameSite=Lax', '; SameSite=none', '; SameSite=x', '; x=y', '; x'],
    ...[
      '; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      '; expires=01-Jan-70 00:00:00',
      '; Expires=0',
      '__proto__',
    ],
    ...['__Host-', '__Secure-', 'constructor=1', '; Expires=Wed, 31 Feb 2021 25:61:61 GMT'],
  ),
}

export const FORMATS: Readonly<Record<CorpusKind, Format>> = { http1, http2, hpack, websocket, cookies }
