import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HeaderBlock } from '../../../src/protocol/header-block.ts'
import {
  CANCEL,
  COMPRESSION_ERROR,
  ENHANCE_YOUR_CALM,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  HEADERS,
  PROTOCOL_ERROR,
} from '../../../src/protocol/http2/constants.ts'
import { CONNECT, FramePeer, HEAD, POST } from '../../support/frame-peer.ts'

describe('CONTINUATION', () => {
  test('joins a block, however it is cut', () => {
    const peer = FramePeer.ready()
    peer.request()
    const block = peer.block([':status', '200', 'x-long', 'v'.repeat(100)])
    peer.sendFrame(HEADERS, FLAG_END_STREAM, 1, block.subarray(0, 1))
    for (let i = 1; i < block.length; i++) peer.sendContinuation(1, block.subarray(i, i + 1), false)
    peer.sendContinuation(1, Buffer.alloc(0), true)
    assert.deepEqual(peer.heard, [`head 1 200 x-long=${'v'.repeat(100)} (last)`, 'end 1', 'closed 1'])
  })

  test('works after an empty HEADERS, and twice on one connection', () => {
    const peer = FramePeer.ready()
    for (const id of [1, 3]) {
      peer.request()
      peer.sendFrame(HEADERS, 0, id)
      peer.sendContinuation(id, peer.block([':status', '200']), true)
      peer.sendData(id, '', true)
    }
    assert.deepEqual(peer.heard, ['head 1 200', 'end 1', 'closed 1', 'head 3 200', 'end 3', 'closed 3'])
  })

  test('without end is stopped by the number of frames (CVE-2024-27316)', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendFrame(HEADERS, 0, 1, '\x88')
    for (let i = 0; i < 255; i++) peer.sendContinuation(1, Buffer.from('\x88', 'latin1'), false)
    assert.equal(peer.engine.isClosed, false)
    peer.sendContinuation(1, Buffer.from('\x88', 'latin1'), false)
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /256 frames/)
  })

  test('without end is stopped by the number of bytes (CVE-2024-27983)', () => {
    const peer = FramePeer.ready({ maxHeaderSize: 100 })
    peer.request()
    peer.sendFrame(HEADERS, 0, 1)
    let sent = 0
    while (!peer.engine.isClosed) {
      peer.sendContinuation(1, Buffer.alloc(16_000), false)
      sent += 16_000
    }
    assert.ok(sent < 300_000, `${sent} bytes were taken`)
    peer.wantFailure(ENHANCE_YOUR_CALM)
  })
})

describe('a header block that is wrongly coded', () => {
  for (const [title, block] of [
    ['index beyond the table', [0xff, 0xff, 0x7f]],
    ['index 0', [0x80]],
    ['cut off literal', [0x40, 0x05, 0x61]],
    ['table size above the limit', [0x3f, 0xe2, 0x7f, 0x88]],
    ['table size update after a field', [0x88, 0x20]],
    ['integer without end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ] as const) {
    test(`ends the connection: ${title}`, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendFrame(HEADERS, FLAG_END_HEADERS, 1, Buffer.from(block))
      peer.wantFailure(COMPRESSION_ERROR)
    })
  }

  test('ends the connection even on a stream that is reset', () => {
    const peer = FramePeer.ready()
    const stream = peer.request()
    peer.engine.reset(stream, CANCEL)
    peer.sendFrame(HEADERS, FLAG_END_HEADERS, 1, Buffer.from([0x80]))
    peer.wantFailure(COMPRESSION_ERROR)
  })
})

describe('a header block that is too large', () => {
  const TOO_LARGE = ['reset 1 stream peer H2_HEADERS_TOO_LARGE', 'closed 1']

  test('fails its stream and no other', () => {
    const peer = FramePeer.ready({ maxHeaderSize: 100 })
    peer.request()
    peer.request()
    peer.sendHead(1, 200, false, ['x', 'v'.repeat(99)])
    assert.deepEqual(peer.heard, TOO_LARGE)
    peer.wantReset(1, CANCEL)
    peer.sendHead(3, 200, true, ['x', 'v'.repeat(98)])
    assert.deepEqual(peer.heard, [`head 3 200 x=${'v'.repeat(98)} (last)`, 'end 3', 'closed 3'])
  })

  test('fails while decoding when it is far too large (CVE-2016-6581)', () => {
    const peer = FramePeer.ready({ maxHeaderSize: 1000 })
    peer.request()
    peer.request()
    const value = 'v'.repeat(4000)
    // One entry of 4000 bytes, referred to a thousand times: 4 MB out of 5 KB.
    const literal = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), Buffer.from(value)])
    const block = Buffer.concat([Buffer.from([0x88]), literal, Buffer.alloc(1000, 0xbe)])
    peer.sendFrame(HEADERS, FLAG_END_HEADERS, 1, block)
    assert.deepEqual(peer.heard, TOO_LARGE)
    peer.sendFrame(HEADERS, FLAG_END_HEADERS, 3, Buffer.from([0x89]))
    assert.deepEqual(peer.heard, ['head 3 204'])
  })

  test('fails when it has too many fields (CVE-2026-49975)', () => {
    const peer = FramePeer.ready({ maxHeaderSize: 1_000_000 })
    peer.request()
    const fields: string[] = []
    for (let i = 0; i < 2001; i++) fields.push('a', '')
    peer.sendHead(1, 200, false, fields)
    assert.deepEqual(peer.heard, TOO_LARGE)
  })

  test('counts interim heads and trailers each for themselves', () => {
    const peer = FramePeer.ready({ maxHeaderSize: 100 })
    peer.request()
    for (let i = 0; i < 3; i++) peer.sendHead(1, 103, false, ['x', 'v'.repeat(90)])
    peer.sendHead(1, 200, false, ['x', 'v'.repeat(90)])
    peer.sendHeaders(1, ['x', 'v'.repeat(99)], true)
    assert.deepEqual(peer.heard.slice(-2), TOO_LARGE)
  })
})

describe('a malformed head fails its stream with PROTOCOL_ERROR', () => {
  for (const [title, fields] of [
    ['no :status', ['a', 'b']],
    ['no field at all', []],
    [':status behind a field', ['a', 'b', ':status', '200']],
    ['two :status', [':status', '200', ':status', '200']],
    ['a request pseudo field', [':status', '200', ':path', '/']],
    ['an unknown pseudo field', [':status', '200', ':what', 'x']],
    ['a status of two digits', [':status', '20']],
    ['a status of four digits', [':status', '2000']],
    ['a status below 100', [':status', '099']],
    ['a status that is no number', [':status', '2x0']],
    ['an empty status', [':status', '']],
    ['101', [':status', '101']],
    ['upper case', [':status', '200', 'X-Up', 'x']],
    ['an empty name', [':status', '200', '', 'x']],
    ['a space in a name', [':status', '200', 'a b', 'x']],
    ['a colon in a name', [':status', '200', 'a:b', 'x']],
    ['obs-text in a name', [':status', '200', 'a\xe4', 'x']],
    ['NUL in a value', [':status', '200', 'a', 'x\0y']],
    ['CR in a value', [':status', '200', 'a', 'x\ry']],
    ['LF in a value', [':status', '200', 'a', 'x\ny']],
    ['a leading space in a value', [':status', '200', 'a', ' x']],
    ['a trailing space in a value', [':status', '200', 'a', 'x ']],
    ['a leading tab in a value', [':status', '200', 'a', '\tx']],
    ['a trailing tab in a value', [':status', '200', 'a', 'x\t']],
    ['connection', [':status', '200', 'connection', 'close']],
    ['keep-alive', [':status', '200', 'keep-alive', 'timeout=5']],
    ['proxy-connection', [':status', '200', 'proxy-connection', 'close']],
    ['transfer-encoding', [':status', '200', 'transfer-encoding', 'chunked']],
    ['upgrade', [':status', '200', 'upgrade', 'h2c']],
    ['content-length that is no number', [':status', '200', 'content-length', '5x']],
    ['content-length with a sign', [':status', '200', 'content-length', '+5']],
    ['an empty content-length', [':status', '200', 'content-length', '']],
    ['a content-length beyond all numbers', [':status', '200', 'content-length', '99999999999999999999']],
    ['two content-lengths that differ', [':status', '200', 'content-length', '5', 'content-length', '6']],
  ] as const) {
    test(title, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.request()
      peer.sendHeaders(1, fields)
      assert.deepEqual(peer.heard, ['reset 1 stream peer PROTOCOL_ERROR', 'closed 1'])
      peer.wantReset(1, PROTOCOL_ERROR)
      peer.sendHead(3, 200, true)
      assert.deepEqual(peer.heard, ['head 3 200 (last)', 'end 3', 'closed 3'])
    })
  }

  test('an interim head with END_STREAM', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 103, true)
    assert.deepEqual(peer.heard, ['reset 1 stream peer PROTOCOL_ERROR', 'closed 1'])
  })
})

test('what is odd but allowed in a head', () => {
  const peer = FramePeer.ready()
  peer.request()
  const fields = [
    'a',
    '',
    'b',
    'x\ty z',
    'c',
    '\xe4',
    "!#$%&'*+-.^_`|~0",
    '1',
    'content-length',
    '0',
    'content-length',
    '0',
  ]
  peer.sendHead(1, 999, true, fields)
  assert.equal(peer.heard[1], 'end 1')
})

describe('a head that comes again', () => {
  const literal = (name: string, value: string, first: number): Buffer =>
    Buffer.concat([
      Buffer.from([first, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ])
  const STATUS_200 = Buffer.from([0x88])
  const answer = (peer: FramePeer, ...parts: Buffer[]): HeaderBlock => {
    const { id } = peer.request()
    const before = peer.sink.heads.length
    peer.sendFrame(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, Buffer.concat([STATUS_200, ...parts]))
    assert.equal(peer.sink.heads.length, before + 1)
    return peer.sink.heads[before]!
  }

  test('is not decoded again', () => {
    const peer = FramePeer.ready()
    const first = answer(peer, literal('a', 'b', 0x00))
    assert.equal(answer(peer, literal('a', 'b', 0x00)), first)
    assert.deepEqual(answer(peer, literal('a', 'c', 0x00)).flat, ['a', 'c'])
    assert.deepEqual(answer(peer, literal('a', 'b', 0x00)).flat, ['a', 'b'])
  })

  test('is recognised again after many that all differ, of which most were not compared', () => {
    const peer = FramePeer.ready()
    for (let i = 0; i < 100; i++)
      assert.deepEqual(answer(peer, literal('a', `${i}`, 0x00)).flat, ['a', `${i}`])
    for (let i = 0; i < 200; i++)
      assert.deepEqual(answer(peer, literal('a', 'b', 0x00)).toObject(), { a: 'b' })
    assert.equal(answer(peer, literal('a', 'b', 0x00)), answer(peer, literal('a', 'b', 0x00)))
  })

  test('is decoded each time when it is long', () => {
    const peer = FramePeer.ready()
    const long = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) =>
      literal(name, 'v'.repeat(120), 0x00),
    )
    const first = answer(peer, ...long)
    const second = answer(peer, ...long)
    assert.notEqual(second, first)
    assert.deepEqual(second.flat, first.flat)
  })

  test('means another thing when the table has changed in between', () => {
    const peer = FramePeer.ready()
    const newest = Buffer.from([0xbe])
    answer(peer, literal('a', 'first', 0x40))
    assert.deepEqual(answer(peer, newest).flat, ['a', 'first'])
    assert.deepEqual(answer(peer, newest).flat, ['a', 'first'])
    answer(peer, literal('a', 'second', 0x40))
    assert.deepEqual(answer(peer, newest).flat, ['a', 'second'])
  })

  test('with an insertion is decoded each time, for the table needs it', () => {
    const peer = FramePeer.ready()
    for (let i = 0; i < 3; i++) assert.deepEqual(answer(peer, literal('a', 'b', 0x40)).flat, ['a', 'b'])
    assert.deepEqual(answer(peer, Buffer.from([0xbe, 0xbf, 0xc0])).flat, ['a', 'b', 'a', 'b', 'a', 'b'])
  })

  test('with a field that nobody is to keep is decoded each time', () => {
    const peer = FramePeer.ready()
    const first = answer(peer, literal('a', 'secret', 0x10))
    const second = answer(peer, literal('a', 'secret', 0x10))
    assert.deepEqual(second.flat, ['a', 'secret'])
    assert.notEqual(second, first)
  })

  test('is judged for the stream that it is on', () => {
    const peer = FramePeer.ready()
    const block = Buffer.concat([STATUS_200, literal('content-length', '5', 0x00)])
    peer.request()
    peer.sendFrame(HEADERS, FLAG_END_HEADERS, 1, block)
    peer.sendData(1, 'hello', true)
    peer.request(HEAD)
    peer.sendFrame(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, 3, block)
    peer.request()
    peer.sendFrame(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, 5, block)
    peer.wantReset(5, PROTOCOL_ERROR)
    peer.request()
    peer.sendFrame(HEADERS, FLAG_END_HEADERS, 7, block)
    peer.sendFrame(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, 7, block)
    peer.wantReset(7, PROTOCOL_ERROR)
  })
})

describe('the order of a response', () => {
  const MALFORMED = ['reset 1 stream peer PROTOCOL_ERROR', 'closed 1']

  test('DATA before the head', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendData(1, 'x')
    assert.deepEqual(peer.heard, MALFORMED)
    peer.wantReset(1, PROTOCOL_ERROR)
  })

  test('DATA after an interim head', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 100)
    peer.sink.take()
    peer.sendData(1, 'x', true)
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('a second head', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200)
    peer.sink.take()
    peer.sendHead(1, 200)
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('an interim head after the head', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200)
    peer.sink.take()
    peer.sendHead(1, 103)
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('trailers without END_STREAM', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200)
    peer.sendData(1, 'x')
    peer.sink.take()
    peer.sendHeaders(1, ['t', '1'])
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('pseudo fields and forbidden fields in trailers', () => {
    for (const fields of [
      [':status', '200'],
      ['connection', 'close'],
      ['A', 'b'],
    ]) {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendHead(1, 200)
      peer.sink.take()
      peer.sendHeaders(1, fields, true)
      assert.deepEqual(peer.heard, MALFORMED)
    }
  })

  test('HEADERS within a tunnel', () => {
    const peer = FramePeer.ready()
    peer.request(CONNECT, false)
    peer.sendHead(1, 200)
    peer.sink.take()
    peer.sendHeaders(1, ['t', '1'], true)
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('DATA after trailers, with the request still under way', () => {
    const peer = FramePeer.ready()
    peer.request(POST, false)
    peer.sendHead(1, 200)
    peer.sendHeaders(1, ['t', '1'], true)
    peer.sendData(1, 'x')
    assert.deepEqual(peer.heard, ['head 1 200', 'end 1 t=1', 'closed 1'])
  })
})

describe('content-length and the DATA received must agree', () => {
  const MALFORMED = ['reset 1 stream peer H2_LENGTH_MISMATCH', 'closed 1']
  const length = (n: number) => ['content-length', String(n)]

  test('less, ended by DATA', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, false, length(5))
    peer.sendData(1, 'four', true)
    assert.deepEqual(peer.heard.slice(-2), MALFORMED)
    peer.wantReset(1, PROTOCOL_ERROR)
  })

  test('less, ended by trailers', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, false, length(5))
    peer.sendHeaders(1, ['t', '1'], true)
    assert.deepEqual(peer.heard.slice(-2), MALFORMED)
  })

  test('none, ended by the head itself', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, true, length(5))
    assert.deepEqual(peer.heard, MALFORMED)
  })

  test('more', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, false, length(5))
    peer.sendData(1, 'five!')
    peer.sendData(1, '!', true)
    assert.deepEqual(peer.heard.slice(-2), MALFORMED)
  })

  test('any content where there can be none', () => {
    for (const [fields, status] of [
      [HEAD, 200],
      [POST, 204],
      [POST, 304],
    ] as const) {
      const peer = FramePeer.ready()
      peer.request(fields)
      peer.sendHead(1, status)
      peer.sendData(1, 'x')
      assert.deepEqual(peer.heard.slice(-2), MALFORMED)
    }
  })

  test('padding does not count', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, false, length(3))
    peer.sendPaddedData(1, 'abc', 10, true)
    assert.deepEqual(peer.heard.slice(-2), ['end 1', 'closed 1'])
  })
})
