import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventLimits, LONGEST_EVENT } from '../../../src/protocol/event-stream/limits.ts'
import { EventStreamParser } from '../../../src/protocol/event-stream/parser.ts'
import { parse, Recorder } from './parse.ts'

const TOO_LARGE = 'failure Event exceeds maxEventSize'

/** A stream, and what it reports however it is split. */
const CASES: readonly (readonly [name: string, stream: string | Uint8Array, reports: readonly string[]])[] = [
  [
    'the first example of the standard',
    'data: YHOO\ndata: +2\ndata: 10\n\n',
    ['message "YHOO\\n+2\\n10" id='],
  ],
  [
    'the second example of the standard',
    ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n',
    ['comment test stream', 'message "first event" id=1', 'message "second event" id='],
  ],
  [
    'the third example of the standard',
    'data\n\ndata\ndata\n\ndata:',
    ['message "" id=', 'message "\\n" id='],
  ],
  [
    'the fourth example of the standard',
    'data:test\n\ndata: test\n\n',
    ['message "test" id=', 'message "test" id='],
  ],
  ['LF, CR and CRLF', 'data:1\r\rdata:2\n\ndata:3\r\n\r\n', [1, 2, 3].map((n) => `message "${n}" id=`)],
  ['CR, then LF: one line end', 'data:1\r\ndata:2\r\n\r\n', ['message "1\\n2" id=']],
  ['LF, then CR: two line ends', 'data:1\n\rdata:2\n\r', ['message "1" id=', 'message "2" id=']],
  ['all line ends in one event', 'data:1\rdata:2\ndata:3\r\ndata:4\r\r', ['message "1\\n2\\n3\\n4" id=']],
  ['a byte order mark', '\ufeffdata: x\n\n', ['message "x" id=']],
  ['two byte order marks: the second belongs to the name', '\ufeff\ufeffdata: x\n\n', []],
  ['a byte order mark on the second line', 'data: x\n\ufeffdata: y\n\n', ['message "x" id=']],
  ['a byte order mark alone on the first line', '\ufeff\ndata: x\n\n', ['message "x" id=']],
  ['a byte order mark in a value', 'data:\ufeffx\n\n', ['message "\ufeffx" id=']],
  ['bytes that only begin like a mark', Buffer.from([0xef, 0xbb, 0x0a, 0x0a]), []],
  [
    'invalid UTF-8',
    Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from('b\n\n')]),
    ['message "a\ufffd\ufffdb" id='],
  ],
  ['characters of two, three and four bytes', 'data: é€😀\n\n', ['message "é€😀" id=']],
  ['one space after the colon goes', 'data:  x \n\n', ['message " x " id=']],
  ['a second colon belongs to the value', 'data: a: b\n\n', ['message "a: b" id=']],
  ['a name in upper case is unknown', 'DATA: x\n\n', []],
  ['a name after a space is unknown', ' data: x\n\n', []],
  ['longer and shorter names are unknown', 'dat: x\ndatas: x\nevents: x\nide: x\nretrys: 1\nd\n\n', []],
  ['names with the right start are unknown', 'dXta: x\neXent: x\niX: x\nrXtry: 1\nfoo: x\n\n', []],
  ['no data', 'event: foo\n\ndata: x\n\n', ['message "x" id=']],
  ['a type', 'event: foo\ndata: x\n\ndata: y\n\n', ['foo "x" id=', 'message "y" id=']],
  ['an empty type resets it', 'event: foo\nevent:\ndata: x\n\n', ['message "x" id=']],
  ['the last type counts', 'event: foo\nevent: bar\ndata: x\n\n', ['bar "x" id=']],
  [
    'an id stays',
    'id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n',
    ['message "x" id=1', 'message "y" id=1', 'message "z" id='],
  ],
  ['an id with U+0000 is ignored', 'id: 1\nid: a\0b\ndata: x\n\n', ['message "x" id=1']],
  ['spaces of an id stay', 'id:  1 \ndata: x\n\n', ['message "x" id= 1 ']],
  ['an id that is not ASCII', 'id: €\ndata: x\n\n', ['message "x" id=€']],
  ['an id without data counts', 'id: 7\n\ndata: x\n\n', ['message "x" id=7']],
  ['an event unfinished at the end', 'data: x\n\nid: 9\ndata: y\n', ['message "x" id=']],
  ['a retry without an empty line', 'retry: 250\n', ['retry 250']],
  ['a retry with anything but digits', 'retry: 1.5\nretry: -1\nretry: 1e3\nretry:\nretry: ١\nretry\n', []],
  ['a long retry', 'retry: 99999999999\n', ['retry 99999999999']],
  ['comments', ':\n: \n:a\n:  b\n\n', ['comment ', 'comment ', 'comment a', 'comment  b']],
  [
    'many short values',
    'data: 1234567890123456\n\n'.repeat(100),
    Array(100).fill('message "1234567890123456" id='),
  ],
  ['a long value', `data: ${'x'.repeat(5000)}\n\n`, [`message "${'x'.repeat(5000)}" id=`]],
]

describe('the events of a stream', () => {
  for (const [name, stream, reports] of CASES) {
    test(name, () => {
      const bytes = Buffer.from(stream as string)
      assert.deepEqual(parse([bytes]), reports, 'whole')
      assert.deepEqual(parse([...bytes].map((byte) => Uint8Array.of(byte))), reports, 'byte by byte')
      // Each split of the long ones would take long, and shows nothing more.
      for (let i = 1; i < Math.min(bytes.length, 200); i++) {
        assert.deepEqual(parse([bytes.subarray(0, i), bytes.subarray(i)]), reports, `split at ${i}`)
      }
    })
  }

  test('lines of any length are found, also where long chunks are read piece by piece', () => {
    for (const [end, letter] of [
      ['\n', 'x'],
      ['\r', 'x'],
      ['\r\n', 'x'],
      ['\n', 'ä'],
      ['\r\n', '😀'],
    ] as const) {
      const lengths = [1, 500, 1010, 1015, 1016, 1017, 1018, 1019, 1023, 1024, 1025, 2047, 2048, 2049, 3, 9]
      const data = lengths.map((length, i) => `${i}${letter.repeat(length)}`)
      const text = data.map((value) => `id: ${value.length}${end}data: ${value}${end}${end}`).join('')
      const bytes = Buffer.from(`${text}:${'c'.repeat(1500)}${end}`)
      const reports = [
        ...data.map((value) => `message ${JSON.stringify(value)} id=${value.length}`),
        `comment ${'c'.repeat(1500)}`,
      ]
      assert.deepEqual(parse([bytes]), reports)
      for (const size of [1, 1000, 1023, 1024, 1025, 4096]) {
        const chunks: Buffer[] = []
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
        assert.deepEqual(parse(chunks), reports, `in chunks of ${size}`)
      }
    }
  })

  test('an event is reported with the CR that ends it', () => {
    const recorder = new Recorder()
    recorder.parser.push(Buffer.from('data: x\r\r'))
    assert.deepEqual(recorder.reports, ['message "x" id='])
    // The LF belongs to the CR. An empty chunk does not change that.
    recorder.parser.push(Buffer.alloc(0))
    recorder.parser.push(Buffer.from('\ndata: y\n\n'))
    assert.deepEqual(recorder.reports.slice(1), ['message "y" id='])
  })

  test('the first byte alone ends a line', () => {
    const recorder = new Recorder()
    recorder.parser.push(Buffer.from(':'))
    recorder.parser.push(Buffer.from('\n'))
    assert.deepEqual(recorder.reports, ['comment '])
  })

  test('comments need no reader', () => {
    const data: string[] = []
    const sink = { onEvent: (_: string, text: string) => data.push(text), onRetry() {}, onFailure() {} }
    const parser = new EventStreamParser(sink, eventLimits(0))
    parser.push(Buffer.from(': comment\ndata: x\n\n'))
    assert.deepEqual(data, ['x'])
  })

  test('the memory of a chunk is the caller’s again after push', () => {
    const recorder = new Recorder()
    const chunk = Buffer.from('data: one')
    recorder.parser.push(chunk)
    chunk.fill('?')
    recorder.parser.push(Buffer.from('\n\n'))
    assert.deepEqual(recorder.reports, ['message "one" id='])
  })
})

describe('the id to resume after', () => {
  test('is that of the last event that ended', () => {
    const { parser } = new Recorder()
    parser.push(Buffer.from('id: 1\ndata: x\n\nid: 2\ndata: y\n'))
    assert.equal(parser.lastEventId, '1')
    parser.push(Buffer.from('\n'))
    assert.equal(parser.lastEventId, '2')
  })

  test('is kept from an earlier stream', () => {
    const recorder = new Recorder(0, '41')
    assert.equal(recorder.parser.lastEventId, '41')
    recorder.parser.push(Buffer.from('data: x\n\n'))
    assert.deepEqual(recorder.reports, ['message "x" id=41'])
  })
})

describe('a sink that stops the parser', () => {
  for (const [name, stream] of [
    ['onEvent', 'data: 1\n\ndata: 2\n\n'],
    ['onRetry', 'retry: 1\nretry: 2\n'],
    ['onComment', ': 1\n: 2\n'],
  ] as const) {
    for (const chunks of [[stream], [...stream]]) {
      test(`${name} is not called again, in ${chunks.length === 1 ? 'one chunk' : 'many'}`, () => {
        let calls = 0
        const recorder = new Recorder()
        recorder[name] = () => {
          calls++
          recorder.parser.stop()
        }
        for (const chunk of chunks) recorder.parser.push(Buffer.from(chunk))
        assert.equal(calls, 1)
      })
    }
  }
})

/** The most that is accepted with this `maxEventSize`, and one byte or line more. */
const BOUNDS: readonly (readonly [name: string, max: number, most: string, more: string])[] = [
  ['data', 10, 'data: 0123456789\n\n', 'data: 0123456789a\n\n'],
  [
    'data of two lines, with the LF between them',
    9,
    'data: 0123\ndata: 0123\n\n',
    'data: 0123\ndata: 01234\n\n',
  ],
  ['bytes, not characters', 6, 'data: ééé\n\n', 'data: éééa\n\n'],
  ['data and id', 6, 'id: ab\ndata: 0123\n\n', 'id: abc\ndata: 0123\n\n'],
  ['data and id, the id last', 6, 'data: 0123\nid: ab\n\n', 'data: 0123\nid: abc\n\n'],
  ['only the last id', 3, 'id: ab\nid: cd\ndata: 0\n\n', 'id: ab\nid: cde\ndata: 0\n\n'],
  ['data and type', 5, 'event: x\ndata: 0123\n\n', 'event: xy\ndata: 0123\n\n'],
  ['data and type, the type last', 5, 'data: 0123\nevent: x\n\n', 'data: 0123\nevent: xy\n\n'],
  ['data and retry', 5, 'retry: 1\ndata: 0123\n\n', 'retry: 12\ndata: 0123\n\n'],
  ['data and retry, the retry last', 5, 'data: 0123\nretry: 1\n\n', 'data: 0123\nretry: 12\n\n'],
  ['lines of data', 100_000, `${'data\n'.repeat(1024)}\n`, `${'data\n'.repeat(1025)}\n`],
  ['lines of data of a larger event', 200_000, `${'data\n'.repeat(1562)}\n`, `${'data\n'.repeat(1563)}\n`],
  ['any line', 4, `${'a'.repeat(11)}\n`, `${'a'.repeat(12)}\n`],
  ['a comment', 4, `:${'a'.repeat(10)}\n`, `:${'a'.repeat(11)}\n`],
  ['the first line, without its mark', 4, `\ufeff${'a'.repeat(11)}\n`, `\ufeff${'a'.repeat(12)}\n`],
  ['an unfinished line', 4, `\n${'a'.repeat(11)}`, `\n${'a'.repeat(12)}`],
]

const SPLITS: readonly ((text: string) => string[])[] = [
  (text) => [text],
  (text) => [...text],
  (text) => [text.slice(0, 3), text.slice(3)],
]

describe('maxEventSize', () => {
  for (const [name, max, most, more] of BOUNDS) {
    test(`limits ${name}`, () => {
      for (const split of SPLITS) {
        assert.ok(!parse(split(most), max).includes(TOO_LARGE), 'the most')
        const reports = parse(split(`${more}data: 1\n\n`), max)
        assert.equal(reports.at(-1), TOO_LARGE, 'one more')
        assert.equal(reports.filter((report) => report === TOO_LARGE).length, 1)
      }
    })
  }

  test('an event does not count towards the next', () => {
    const event = 'id: 1\nevent: x\nretry: 1\ndata: 0\n\n'
    assert.ok(!parse([event.repeat(5)], 4).includes(TOO_LARGE))
  })

  test('0 is no limit but that of a string', () => {
    assert.equal(parse([`${'data\n'.repeat(140_000)}\n`], 0).length, 1)
    assert.equal(eventLimits(0).eventBytes, LONGEST_EVENT)
  })

  test('cannot exceed the longest string', () => {
    assert.equal(eventLimits(Number.MAX_SAFE_INTEGER).eventBytes, LONGEST_EVENT)
    assert.equal(eventLimits(Number.MAX_SAFE_INTEGER).dataLines, 131_072)
  })

  test('an endless line costs its limit, not its bytes', () => {
    const recorder = new Recorder(1024 * 1024)
    const chunk = Buffer.alloc(65_536, 'a')
    for (let i = 0; i < 1000; i++) recorder.parser.push(chunk)
    assert.deepEqual(recorder.reports, [TOO_LARGE])
  })

  test('a line in a million pieces costs the time of one piece', () => {
    const recorder = new Recorder()
    const byte = Buffer.from('a')
    recorder.parser.push(Buffer.from('data: '))
    for (let i = 0; i < 1_000_000; i++) recorder.parser.push(byte)
    recorder.parser.push(Buffer.from('\n\n'))
    assert.equal(recorder.reports[0]!.length, 'message "" id='.length + 1_000_000)
  })

  test('lines that end with CR alone are found in linear time', () => {
    const reports = parse([Buffer.from('data: x\r\r'.repeat(200_000))])
    assert.equal(reports.length, 200_000)
  })
})
