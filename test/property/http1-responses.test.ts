/** Invariants for every stream of bytes: valid, damaged or arbitrary. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { HeadParsers } from '../../src/protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../src/protocol/http1/response-parser.ts'
import { Recorder, transcript } from '../protocol/http1/transcript.ts'

const REQUESTS = ['GET', 'HEAD', 'POST', 'GET']
const CONVERSATION = { requests: REQUESTS, close: true, maxHeaderSize: 400 }

const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/)
const value = fc
  .array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: 30 })
  .map((codes) => String.fromCharCode(...codes.filter((code) => code !== 0x7f)))
const body = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const fields = fc.array(fc.tuple(name, value), { maxLength: 5 }).map((pairs) =>
  pairs
    .filter(([key]) => !/^(content-length|transfer-encoding|connection|upgrade|keep-alive)$/i.test(key))
    .map(([key, text]) => `${key}:${text}\r\n`)
    .join(''),
)

const counted = fc
  .tuple(fields, body)
  .map(([extra, data]) => `HTTP/1.1 200 OK\r\n${extra}Content-Length: ${data.length}\r\n\r\n${data}`)
const chunkedResponse = fc
  .tuple(fields, fc.array(body, { maxLength: 4 }), fields)
  .map(([extra, chunks, trailers]) => {
    const coded = chunks
      .filter((chunk) => chunk !== '')
      .map((chunk) => `${chunk.length.toString(16)};x="y"\r\n${chunk}\r\n`)
      .join('')
    return `HTTP/1.1 203 \r\n${extra}Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n${trailers}\r\n`
  })
const interim = fields.map((extra) => `HTTP/1.1 103 Early Hints\r\n${extra}\r\n`)
const empty = fields.map((extra) => `HTTP/1.1 204 No Content\r\n${extra}\r\n`)
const untilClose = fc.tuple(fields, body).map(([extra, data]) => `HTTP/1.0 200 OK\r\n${extra}\r\n${data}`)
const response = fc.oneof(counted, chunkedResponse, interim, empty, untilClose)
const conversation = fc.array(response, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))

/** One byte changed, removed, doubled or inserted, several times over. */
const damage = fc.array(
  fc.record({
    at: fc.nat(2000),
    kind: fc.constantFrom('change', 'remove', 'insert', 'swap'),
    byte: fc.oneof(fc.constantFrom(0x00, 0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x3b, 0x2c, 0x30, 0x66), fc.nat(255)),
  }),
  { minLength: 1, maxLength: 4 },
)
const damaged = fc.tuple(conversation, damage).map(([text, changes]) => {
  let result = text
  for (const { at, kind, byte } of changes) {
    const place = at % result.length
    const character = String.fromCharCode(byte)
    if (kind === 'change') result = result.slice(0, place) + character + result.slice(place + 1)
    else if (kind === 'remove') result = result.slice(0, place) + result.slice(place + 1)
    else if (kind === 'insert') result = result.slice(0, place) + character + result.slice(place)
    else result = result.slice(place) + result.slice(0, place)
    if (result === '') result = 'H'
  }
  return result
})

const cuts = fc.array(fc.nat(3000), { maxLength: 12 })

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return sorted.slice(1).map((place, i) => bytes.subarray(sorted[i], place))
}

/** Every message starts before its head, ends at most once, and nothing follows a failure. */
function assertOrder(lines: readonly string[]): void {
  const shape = lines
    .map((line) => line.split(' ')[0]!)
    .filter((word) => word !== 'field' && word !== 'trailer')
    .join(' ')
  assert.match(
    `${shape} `,
    /^(?:begin (?:informational |head (?:body )?end ))*(?:begin (?:head (?:body )?|upgrade )?)?(?:rest |failure )?$/,
  )
}

describe('HTTP/1.1 responses', () => {
  it('the same bytes give the same events, however they are cut: valid conversations', () => {
    fc.assert(
      fc.property(conversation, cuts, (text, places) => {
        const bytes = Buffer.from(text, 'latin1')
        const once = transcript([bytes], CONVERSATION)
        assertOrder(once)
        assert.deepEqual(transcript(cutAt(bytes, places), CONVERSATION), once)
      }),
      { numRuns: 400 },
    )
  })

  it('the same bytes give the same events, however they are cut: damaged conversations', () => {
    fc.assert(
      fc.property(damaged, cuts, (text, places) => {
        const bytes = Buffer.from(text, 'latin1')
        const once = transcript([bytes], CONVERSATION)
        assertOrder(once)
        assert.deepEqual(transcript(cutAt(bytes, places), CONVERSATION), once)
      }),
      { numRuns: 3000 },
    )
  })

  it('arbitrary bytes end in events or in one failure, never in an exception', () => {
    const prefix = fc.constantFrom(
      '',
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    fc.assert(
      fc.property(prefix, fc.uint8Array({ maxLength: 200 }), cuts, (start, junk, places) => {
        const bytes = Buffer.concat([Buffer.from(start), junk])
        const once = transcript([bytes], CONVERSATION)
        assertOrder(once)
        assert.deepEqual(transcript(cutAt(bytes, places), CONVERSATION), once)
      }),
      { numRuns: 800 },
    )
  })

  it('valid responses are understood', () => {
    const one = fc.oneof(counted, chunkedResponse, empty)
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (parts) => {
        const bytes = Buffer.from(parts.join(''), 'latin1')
        const lines = transcript([bytes], { requests: parts.map(() => 'GET') })
        assert.equal(lines.filter((line) => line === 'end').length, parts.length)
        assert.ok(!lines.at(-1)!.startsWith('failure'))
      }),
      { numRuns: 300 },
    )
  })

  it('a response means the same whatever came before it, also the same head', () => {
    const one = fc.oneof(
      counted,
      chunkedResponse,
      empty,
      fc.constant('HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n\r\nx'),
    )
    const exchange = fc.record({ which: fc.nat(2), isHead: fc.boolean() })
    fc.assert(
      fc.property(
        fc.array(one, { minLength: 3, maxLength: 3 }),
        fc.array(exchange, { maxLength: 8 }),
        (pool, exchanges) => {
          const parts = exchanges.map(({ which, isHead }) => {
            const text = pool[which]!
            return isHead ? text.slice(0, text.indexOf('\r\n\r\n') + 4) : text
          })
          const requests = exchanges.map(({ isHead }) => (isHead ? 'HEAD' : 'GET'))
          const bytes = Buffer.from(parts.join(''), 'latin1')
          const alone = parts.flatMap((text, i) => {
            return transcript([Buffer.from(text, 'latin1')], { requests: [requests[i]!] })
          })
          assert.deepEqual(transcript([bytes], { requests }), alone)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('pausing at any callback changes nothing but the time', () => {
    fc.assert(
      fc.property(fc.oneof(conversation, damaged), fc.infiniteStream(fc.boolean()), (text, pauses) => {
        const bytes = Buffer.from(text, 'latin1')
        const recorder = new Recorder()
        const parser = new ResponseParser(
          recorder,
          new HeadParsers({ maxHeaderSize: CONVERSATION.maxHeaderSize }),
        )
        recorder.react = (callback) => {
          if (callback !== 'upgrade' && pauses.next().value === true) parser.pause()
        }
        for (const method of REQUESTS) parser.expect(method, false)
        let at = parser.execute(bytes, 0, bytes.length)
        parser.finish()
        while (parser.status === 'paused') {
          parser.resume()
          at = parser.execute(bytes, at, bytes.length)
        }
        const lines = recorder.flush()
        if (parser.failure !== null) lines.push(`failure ${parser.failure.code}`)
        assert.deepEqual(lines, transcript([bytes], CONVERSATION))
      }),
      { numRuns: 500 },
    )
  })

  it('work grows with the bytes, not with their square', () => {
    // Counted, not timed: the parser copies an unfinished head at most a few times in total.
    let copied = 0
    const original = Buffer.prototype.copy
    Buffer.prototype.copy = function copy(...parameters: Parameters<typeof original>): number {
      const count = original.apply(this, parameters)
      copied += count
      return count
    }
    try {
      const head = `HTTP/1.1 204 No\r\n${'a-name: a value\r\n'.repeat(600)}\r\n`
      const bytes = Buffer.from(head)
      const parser = new ResponseParser(new Recorder(), new HeadParsers({ maxHeaderSize: 16_384 }))
      parser.expect('GET', false)
      for (let at = 0; at < bytes.length; at++) parser.execute(bytes, at, at + 1)
      assert.equal(parser.failure, null)
      assert.equal(parser.expecting, 0)
      assert.ok(copied < 4 * bytes.length, `${copied} bytes copied for ${bytes.length}`)
    } finally {
      Buffer.prototype.copy = original
    }
  })
})
