/** Each ceiling, at its last permitted value and one beyond; and that reaching one costs no more than its bytes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ParsedHead } from '../../../src/protocol/http1/head-parser.ts'
import { HeadParsers } from '../../../src/protocol/http1/head-parsers.ts'
import {
  FIELD_OVERHEAD,
  MAX_CHUNK_EXTENSION_BYTES,
  MAX_FIELDS,
  maxHeadBytes,
  STATUS_LINE_ALLOWANCE,
} from '../../../src/protocol/http1/limits.ts'
import { ResponseParser } from '../../../src/protocol/http1/response-parser.ts'
import { Recorder, singleBytes, transcript } from './transcript.ts'

const GET = { requests: ['GET'] }

function outcome(text: string, pieces?: number, maxHeaderSize = 16_384): string | undefined {
  const bytes = Buffer.from(text, 'latin1')
  const conversation = { ...GET, maxHeaderSize }
  if (pieces === undefined) return transcript([bytes], conversation).at(-1)
  const cut: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieces) cut.push(bytes.subarray(at, at + pieces))
  return transcript(cut, conversation).at(-1)
}

describe('limits of a head', () => {
  it('holds names, values, a status line and the overhead of every field', () => {
    assert.equal(
      maxHeadBytes({ maxHeaderSize: 100 }),
      100 + MAX_FIELDS * FIELD_OVERHEAD + STATUS_LINE_ALLOWANCE,
    )
  })

  const room = maxHeadBytes({ maxHeaderSize: 16_384 })
  const endless: Record<string, [start: string, filler: string]> = {
    'reason phrase': ['HTTP/1.1 200 ', 'x'],
    name: ['HTTP/1.1 200 OK\r\n', 'x'],
    value: ['HTTP/1.1 200 OK\r\na: ', 'x'],
    'whitespace before a value': ['HTTP/1.1 200 OK\r\na:', ' '],
  }
  for (const [what, [start, filler]] of Object.entries(endless)) {
    it(`an endless ${what} fails at the ceiling`, () => {
      const below = start + filler.repeat(room - start.length - 1)
      for (const pieces of [undefined, 1000, 1]) {
        assert.equal(outcome(below, pieces), 'begin')
        assert.equal(outcome(below + filler, pieces), 'failure HEADERS_OVERFLOW')
      }
    })
  }

  it('a head of exactly the ceiling is read', () => {
    const end = '\r\ncontent-length: 0\r\n\r\n'
    const head = `HTTP/1.1 200 ${'x'.repeat(room - 13 - end.length)}${end}`
    for (const pieces of [undefined, 777]) assert.equal(outcome(head, pieces), 'end')
    assert.equal(outcome(head.replace(end, `x${end}`)), 'failure HEADERS_OVERFLOW')
  })

  it('counts fields', () => {
    const head = (count: number): string => `HTTP/1.1 204 No\r\n${'a:\r\n'.repeat(count)}\r\n`
    assert.equal(outcome(head(MAX_FIELDS)), 'end')
    assert.equal(outcome(head(MAX_FIELDS + 1)), 'failure HEADERS_OVERFLOW')
    assert.equal(outcome(head(MAX_FIELDS + 1), 1), 'failure HEADERS_OVERFLOW')
  })

  it('names both sizes of an overflow', () => {
    const parser = new ResponseParser(new Recorder(), new HeadParsers({ maxHeaderSize: 4 }))
    parser.expect('GET', false)
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\nAA: bbb\r\n')
    parser.execute(bytes, 0, bytes.length)
    assert.equal(parser.failure?.message, '5 bytes of header fields, limit 4')
  })

  it('reads a large head in single bytes, and a small one after it', () => {
    const fields = Array.from({ length: 300 }, (_, i) => `x-field-${i}: value ${i}\r\n`).join('')
    const text = `HTTP/1.1 204 No\r\n${fields}\r\nHTTP/1.1 204 No\r\na: b\r\n\r\n`
    const bytes = Buffer.from(text)
    const conversation = { requests: ['GET', 'GET'] }
    const seen = transcript(singleBytes(bytes), conversation)
    assert.deepEqual(seen, transcript([bytes], conversation))
    assert.equal(seen.filter((line) => line.startsWith('field ')).length, 301)
  })

  it('does not remember names longer than any honest one, but delivers them', () => {
    const name = `x-${'long-'.repeat(40)}`
    const heads: ParsedHead[] = []
    const sink = new Recorder()
    sink.onHead = (head) => heads.push(head)
    const parser = new ResponseParser(sink, new HeadParsers({ maxHeaderSize: 16_384 }))
    parser.expect('GET', false)
    const bytes = Buffer.from(`HTTP/1.1 204 No\r\n${name}: v\r\n\r\n`)
    parser.execute(bytes, 0, bytes.length)
    assert.deepEqual(heads[0]?.fields.flat, [name, 'v'])
  })
})

describe('limits beyond the head', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  it('bounds the extensions of one chunk', () => {
    // The limit counts what follows the semicolon, the CR included.
    const extension = 'x'.repeat(MAX_CHUNK_EXTENSION_BYTES - 1)
    assert.equal(outcome(`${chunked}1;${extension}\r\na\r\n1;${extension}\r\nb\r\n0\r\n\r\n`), 'end')
    assert.equal(outcome(`${chunked}1;${extension}x\r\na\r\n`), 'failure HPE_CHUNK_EXTENSIONS_OVERFLOW')
  })

  it('bounds the blanks behind a chunk size, together with its extensions', () => {
    const blanks = ' '.repeat(MAX_CHUNK_EXTENSION_BYTES)
    assert.equal(outcome(`${chunked}1${blanks}\r\na\r\n0${blanks}\r\n\r\n`), 'end')
    assert.equal(outcome(`${chunked}1${blanks} \r\na\r\n`), 'failure HPE_CHUNK_EXTENSIONS_OVERFLOW')
    assert.equal(outcome(`${chunked}1${blanks};a\r\na\r\n`), 'failure HPE_CHUNK_EXTENSIONS_OVERFLOW')
  })

  it('bounds endless trailers', () => {
    const trailers = 'a: b\r\n'.repeat(MAX_FIELDS + 1)
    assert.equal(outcome(`${chunked}0\r\n${trailers}`), 'failure HEADERS_OVERFLOW')
    assert.equal(outcome(`${chunked}0\r\na: ${'x'.repeat(100_000)}`), 'failure HEADERS_OVERFLOW')
  })
})
