import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  closePayload,
  NO_LIMITS,
  PING,
  PONG,
  RecordingSink,
  receive,
  serverFrame,
  TEXT,
} from './server-frames.ts'

const NOT_FINAL = { fin: false }

describe('messages', () => {
  it('reads text and binary messages of every length encoding', () => {
    for (const size of [0, 1, 125, 126, 65_535, 65_536]) {
      const text = 'x'.repeat(size)
      assert.deepEqual(receive(serverFrame(TEXT, text)), [`text ${text}`])
      const bytes = Buffer.alloc(size, 7)
      assert.deepEqual(receive(serverFrame(BINARY, bytes)), [`binary ${bytes.toString('hex')}`])
    }
  })

  it('takes lengths that are encoded longer than necessary', () => {
    assert.deepEqual(receive(serverFrame(TEXT, 'hi', { lengthBits: 16 })), ['text hi'])
    assert.deepEqual(receive(serverFrame(TEXT, 'hi', { lengthBits: 64 })), ['text hi'])
  })

  it('gives the same whatever the pieces are', () => {
    const bytes = Buffer.concat([
      serverFrame(TEXT, 'gr\u00fc\u00df', NOT_FINAL),
      serverFrame(PING, 'p'),
      serverFrame(CONTINUATION, Buffer.from([0xf0, 0x9f]), NOT_FINAL),
      serverFrame(CONTINUATION, Buffer.alloc(0), NOT_FINAL),
      serverFrame(CONTINUATION, Buffer.from([0x98, 0x80])),
      serverFrame(BINARY, Buffer.alloc(200, 1)),
      serverFrame(PONG),
      serverFrame(BINARY, Buffer.alloc(3, 2), { lengthBits: 64 }),
      serverFrame(CLOSE, closePayload(1000, 'bye')),
    ])
    const whole = receive(bytes)
    assert.equal(whole.length, 6)
    assert.equal(whole[1], 'text gr\u00fc\u00df\u{1f600}')
    for (let cut = 0; cut <= bytes.length; cut++) {
      assert.deepEqual(receive(bytes, NO_LIMITS, 'none', [cut]), whole, `cut at ${cut}`)
    }
    const everywhere = Array.from(bytes, (_, i) => i)
    assert.deepEqual(receive(bytes, NO_LIMITS, 'none', everywhere), whole)
  })

  it('gives binary messages memory of their own, exactly as large', () => {
    const bodies: Buffer[] = []
    const sink = new RecordingSink()
    sink.onMessage = (data) => void bodies.push(data as Buffer)
    const bytes = Buffer.concat([
      serverFrame(BINARY, 'abc'),
      serverFrame(BINARY, ''),
      serverFrame(BINARY, 'de', NOT_FINAL),
      serverFrame(CONTINUATION, 'f'),
    ])
    sink.receiver.execute(bytes, 0, bytes.length)
    bytes.fill(0)
    assert.deepEqual(bodies.map(String), ['abc', '', 'def'])
    for (const body of bodies) assert.equal(body.buffer.byteLength, body.length)
  })

  it('does not allocate what a frame only announces', () => {
    const allocate = mock.method(Buffer, 'allocUnsafeSlow')
    const head = Buffer.alloc(10 + 16)
    head[0] = 0x82
    head[1] = 127
    head.writeBigUInt64BE(0x7fff_ffffn, 2)
    receive(head)
    const sizes = allocate.mock.calls.map((call) => call.arguments[0] as number)
    mock.restoreAll()
    assert.ok(sizes.length > 0 && sizes.every((size) => size <= 512 * 1024), String(sizes))
  })

  it('copies a message in many fragments a linear number of times', () => {
    const allocate = mock.method(Buffer, 'allocUnsafeSlow')
    const piece = Buffer.alloc(1000, 1)
    const frames = [serverFrame(BINARY, piece, NOT_FINAL)]
    for (let i = 0; i < 2000; i++) frames.push(serverFrame(CONTINUATION, piece, NOT_FINAL))
    frames.push(serverFrame(CONTINUATION))
    const bytes = Buffer.concat(frames)
    const cuts = Array.from({ length: bytes.length / 500 - 1 }, (_, i) => (i + 1) * 500)
    const [message] = receive(bytes, NO_LIMITS, 'none', cuts)
    const { length } = allocate.mock.calls
    mock.restoreAll()
    assert.equal(message!.length, 'binary '.length + 2 * 2001 * 1000)
    assert.ok(length < 20, `${length} blocks`)
  })
})

describe('control frames', () => {
  it('are delivered inside a fragmented message', () => {
    const bytes = Buffer.concat([
      serverFrame(TEXT, 'a', NOT_FINAL),
      serverFrame(PING, '1'),
      serverFrame(PONG, '2'),
      serverFrame(CONTINUATION, 'b'),
    ])
    assert.deepEqual(receive(bytes), ['ping 31', 'pong 32', 'text ab'])
  })

  it('close: the code and the reason, without a byte order mark', () => {
    assert.deepEqual(receive(serverFrame(CLOSE)), ['close 1005 '])
    assert.deepEqual(receive(serverFrame(CLOSE, closePayload(1000))), ['close 1000 '])
    assert.deepEqual(receive(serverFrame(CLOSE, closePayload(4999, '\ufeffwhy'))), ['close 4999 why'])
  })

  it('nothing is read behind a close frame', () => {
    const bytes = Buffer.concat([serverFrame(CLOSE), serverFrame(TEXT, 'late'), Buffer.from([0xff])])
    assert.deepEqual(receive(bytes), ['close 1005 '])
  })
})

describe('violations', () => {
  const long = Buffer.alloc(126)
  const cases: [name: string, bytes: Buffer, code: number, reason: string][] = [
    ['reserved data opcode', serverFrame(0x3), 1002, 'Invalid opcode received'],
    ['reserved control opcode', serverFrame(0xb), 1002, 'Invalid opcode received'],
    ['masked frame', serverFrame(TEXT, 'x', { masked: true }), 1002, 'Frame must not be masked'],
    ['RSV1 without an extension', serverFrame(TEXT, 'x', { rsv: 4 }), 1002, 'Unexpected RSV bits'],
    ['RSV2', serverFrame(TEXT, 'x', { rsv: 2 }), 1002, 'Unexpected RSV bits'],
    ['RSV3', serverFrame(TEXT, 'x', { rsv: 1 }), 1002, 'Unexpected RSV bits'],
    ['fragmented ping', serverFrame(PING, '', NOT_FINAL), 1002, 'Control frame must not be fragmented'],
    ['long ping', serverFrame(PING, long), 1002, 'Control frame is too long'],
    ['long close', serverFrame(CLOSE, Buffer.alloc(65_536)), 1002, 'Control frame is too long'],
    [
      'text inside a text',
      Buffer.concat([serverFrame(TEXT, 'a', NOT_FINAL), serverFrame(TEXT, 'b')]),
      1002,
      'Expected a continuation frame',
    ],
    ['continuation of nothing', serverFrame(CONTINUATION, 'x'), 1002, 'Unexpected continuation frame'],
    [
      'continuation of a finished message',
      Buffer.concat([serverFrame(BINARY), serverFrame(CONTINUATION)]),
      1002,
      'Unexpected continuation frame',
    ],
    ['close with one byte', serverFrame(CLOSE, 'x'), 1002, 'Close frame has a 1-byte body'],
    ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535].map((code): [string, Buffer, number, string] => [
      `close code ${code}`,
      serverFrame(CLOSE, closePayload(code)),
      1002,
      'Invalid close code',
    ]),
    ['text that is no UTF-8', serverFrame(TEXT, Buffer.from([0xc0, 0xaf])), 1007, 'Invalid UTF-8'],
    ['text that ends in a character', serverFrame(TEXT, Buffer.from([0xe2, 0x82])), 1007, 'Invalid UTF-8'],
    [
      'fragments that end in a character',
      Buffer.concat([serverFrame(TEXT, 'a', NOT_FINAL), serverFrame(CONTINUATION, Buffer.from([0xe2]))]),
      1007,
      'Invalid UTF-8',
    ],
    [
      'a wrong byte before the end of the message',
      serverFrame(TEXT, Buffer.from([0xff]), NOT_FINAL),
      1007,
      'Invalid UTF-8',
    ],
    [
      'a wrong byte at the end of the message',
      Buffer.concat([serverFrame(TEXT, 'a', NOT_FINAL), serverFrame(CONTINUATION, Buffer.from([0xff]))]),
      1007,
      'Invalid UTF-8',
    ],
    [
      'close reason that is no UTF-8',
      serverFrame(CLOSE, closePayload(1000, Buffer.from([0xff]))),
      1007,
      'Invalid UTF-8',
    ],
    [
      'close reason that ends in a character',
      serverFrame(CLOSE, closePayload(1000, Buffer.from([0xe2]))),
      1007,
      'Invalid UTF-8',
    ],
    ['a length of 2^31', announced(0x8000_0000n), 1009, 'Frame length exceeds 2^31 - 1 bytes'],
    ['a length of 2^32', announced(0x1_0000_0000n), 1009, 'Frame length exceeds 2^31 - 1 bytes'],
    ['the longest length', announced(0xffff_ffff_ffff_ffffn), 1009, 'Frame length exceeds 2^31 - 1 bytes'],
  ]
  for (const [name, bytes, code, reason] of cases) {
    it(name, () => {
      const more = Buffer.concat([bytes, serverFrame(TEXT, 'more')])
      const last = receive(more).at(-1)
      assert.equal(last, `failed ${code} ${reason}`)
      const everywhere = Array.from(more, (_, i) => i)
      assert.equal(receive(more, NO_LIMITS, 'none', everywhere).at(-1), last)
    })
  }

  it('the longest length that is allowed waits for its payload', () => {
    assert.deepEqual(receive(announced(0x7fff_ffffn)), [])
  })
})

function announced(length: bigint): Buffer {
  const head = Buffer.alloc(10)
  head[0] = 0x82
  head[1] = 127
  head.writeBigUInt64BE(length, 2)
  return head
}

describe('limits', () => {
  const tooBig = 'failed 1009 Payload size exceeds maximum allowed size'
  const limits = { maxFragments: 0, maxPayloadSize: 4 }

  it('maxPayloadSize: exactly the limit is accepted, one byte more is refused before it is read', () => {
    assert.deepEqual(receive(serverFrame(TEXT, '1234'), limits), ['text 1234'])
    assert.deepEqual(receive(serverFrame(TEXT, '12345').subarray(0, 2), limits), [tooBig])
  })

  it('maxPayloadSize: fragments count together, messages do not', () => {
    const fragments = [serverFrame(TEXT, '12', NOT_FINAL), serverFrame(CONTINUATION, '34')]
    assert.deepEqual(receive(Buffer.concat([...fragments, ...fragments]), limits), ['text 1234', 'text 1234'])
    const more = [serverFrame(TEXT, '12', NOT_FINAL), serverFrame(CONTINUATION, '345')]
    assert.deepEqual(receive(Buffer.concat(more), limits), [tooBig])
  })

  it('maxPayloadSize: control frames are exempt', () => {
    assert.deepEqual(receive(serverFrame(PING, '12345'), limits), ['ping 3132333435'])
  })

  it('maxFragments: the first beyond fails, an empty one too', () => {
    const three = { maxFragments: 3, maxPayloadSize: 0 }
    const empty = serverFrame(CONTINUATION, '', NOT_FINAL)
    const message = [serverFrame(TEXT, 'a', NOT_FINAL), empty, serverFrame(CONTINUATION, 'b')]
    assert.deepEqual(receive(Buffer.concat([...message, ...message]), three), ['text ab', 'text ab'])
    const four = [serverFrame(TEXT, 'a', NOT_FINAL), empty, empty, serverFrame(CONTINUATION)]
    assert.deepEqual(receive(Buffer.concat(four), three), ['failed 1008 Too many message fragments'])
  })

  it('a message that finds no memory is refused, not thrown', () => {
    mock.method(Buffer, 'allocUnsafeSlow', () => {
      throw new RangeError('Array buffer allocation failed')
    })
    const expected = ['failed 1009 Message does not fit into memory']
    assert.deepEqual(receive(serverFrame(BINARY, 'x')), expected)
    assert.deepEqual(receive(serverFrame(BINARY, 'x', NOT_FINAL)), expected)
    mock.restoreAll()
    mock.method(Buffer, 'allocUnsafeSlow', (size: number) => {
      if (size === 3) throw new RangeError('Array buffer allocation failed')
      return Buffer.alloc(size)
    })
    const fragments = [serverFrame(BINARY, 'abc', NOT_FINAL), serverFrame(CONTINUATION)]
    assert.deepEqual(receive(Buffer.concat(fragments)), expected)
    mock.restoreAll()
  })

  it('a text that is longer than a string can be is refused, not thrown', () => {
    const bytes = serverFrame(TEXT, 'x')
    bytes.toString = () => {
      throw new Error('Cannot create a string longer than 0x1fffffe8 characters')
    }
    assert.deepEqual(receive(bytes), ['failed 1009 Message does not fit into memory'])
  })
})

describe('compressed messages', () => {
  const compressed = (payload: string, shape = {}): Buffer => serverFrame(TEXT, payload, { rsv: 4, ...shape })

  it('leave piece by piece and come back inflated', () => {
    const sink = new RecordingSink(NO_LIMITS, 'deflate')
    const bytes = Buffer.concat([compressed('ab', NOT_FINAL), serverFrame(CONTINUATION, 'c')])
    sink.receiver.execute(bytes, 0, bytes.length)
    assert.deepEqual(sink.events, ['compressed 6162', 'compressed 63 last'])
    assert.equal(sink.receiver.inflated(Buffer.from('hello ')), true)
    assert.equal(sink.receiver.inflated(Buffer.from('world')), true)
    sink.receiver.inflatedEnd()
    assert.deepEqual(sink.events.slice(2), ['text hello world'])
  })

  it('may inflate to nothing, and may alternate with others', () => {
    const sink = new RecordingSink(NO_LIMITS, 'deflate')
    const bytes = Buffer.concat([compressed(''), serverFrame(TEXT, 'plain')])
    sink.after = (receiver) => {
      if (sink.events.length === 1) receiver.inflatedEnd()
    }
    sink.receiver.execute(bytes, 0, bytes.length)
    assert.deepEqual(sink.events, ['compressed  last', 'text ', 'text plain'])
  })

  it('RSV1 belongs on the first frame of a message only', () => {
    for (const second of [serverFrame(CONTINUATION, 'c', { rsv: 4 }), serverFrame(PING, '', { rsv: 4 })]) {
      const bytes = Buffer.concat([compressed('a', NOT_FINAL), second])
      assert.deepEqual(receive(bytes, NO_LIMITS, 'deflate'), [
        'compressed 61',
        'failed 1002 Unexpected RSV bits',
      ])
    }
  })

  it('the limit holds for what comes and for what it inflates to', () => {
    const limits = { maxFragments: 0, maxPayloadSize: 4 }
    const tooBig = 'failed 1009 Payload size exceeds maximum allowed size'
    assert.deepEqual(receive(compressed('12345'), limits, 'deflate'), [tooBig])
    const sink = new RecordingSink(limits, 'deflate')
    const bytes = compressed('x')
    sink.receiver.execute(bytes, 0, bytes.length)
    assert.equal(sink.receiver.inflated(Buffer.from('1234')), true)
    assert.equal(sink.receiver.inflated(Buffer.from('5')), false)
    assert.deepEqual(sink.events.slice(1), ['failed 1009 Max decompressed message size exceeded'])
  })

  it('nothing comes of them after the end', () => {
    const sink = new RecordingSink(NO_LIMITS, 'deflate')
    sink.receiver.execute(compressed('x'), 0, 3)
    sink.receiver.stop()
    assert.equal(sink.receiver.inflated(Buffer.from('x')), false)
    sink.receiver.inflatedEnd()
    sink.receiver.inflateFailed()
    assert.deepEqual(sink.events, ['compressed 78 last'])
  })

  it('that do not inflate fail with 1007', () => {
    const sink = new RecordingSink(NO_LIMITS, 'deflate')
    sink.receiver.execute(compressed('x'), 0, 3)
    sink.receiver.inflateFailed()
    assert.deepEqual(sink.events.slice(1), ['failed 1007 Invalid compressed data'])
  })

  it('with a window that cannot be fail at the first one', () => {
    const bytes = Buffer.concat([serverFrame(TEXT, 'plain'), compressed('x')])
    assert.deepEqual(receive(bytes, NO_LIMITS, 'invalid'), [
      'text plain',
      'failed 1007 Invalid server_max_window_bits',
    ])
  })
})

describe('pausing', () => {
  it('stops behind the piece and goes on where it was', () => {
    const sink = new RecordingSink()
    sink.after = (receiver) => receiver.pause()
    const bytes = Buffer.concat([serverFrame(TEXT, 'a'), serverFrame(PING), serverFrame(TEXT, 'b')])
    let at = 0
    for (const event of ['text a', 'ping ', 'text b']) {
      at = sink.receiver.execute(bytes, at, bytes.length)
      assert.equal(sink.receiver.status, 'paused')
      assert.equal(sink.events.at(-1), event)
      assert.equal(sink.receiver.execute(bytes, at, bytes.length), at)
      sink.receiver.resume()
    }
    assert.equal(at, bytes.length)
  })

  it('neither pausing nor resuming brings back what has ended', () => {
    const sink = new RecordingSink()
    sink.receiver.resume()
    assert.equal(sink.receiver.status, 'reading')
    sink.receiver.stop()
    sink.receiver.pause()
    sink.receiver.resume()
    assert.equal(sink.receiver.status, 'ended')
    assert.equal(sink.receiver.execute(serverFrame(TEXT, 'a'), 0, 3), 0)
  })

  it('a message that is stopped inside its own event delivers nothing more', () => {
    const sink = new RecordingSink()
    sink.after = (receiver) => receiver.stop()
    const bytes = Buffer.concat([serverFrame(TEXT, 'a'), serverFrame(TEXT, 'b')])
    sink.receiver.execute(bytes, 0, bytes.length)
    assert.deepEqual(sink.events, ['text a'])
  })
})
