import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FIELD_VALUE_BYTE, TOKEN_BYTE } from '../../../src/protocol/ascii.ts'
import { HeadParser } from '../../../src/protocol/http1/head-parser.ts'

const LIMITS = { maxHeaderSize: 16_384 }
const LF = 0x0a
const CR = 0x0d

/** The failure code of a head, or null when it is complete. */
function verdict(start: string, byte: number, end: string): string | number | null {
  const parser = new HeadParser(LIMITS)
  parser.beginHead()
  const bytes = Buffer.concat([Buffer.from(start), Buffer.from([byte]), Buffer.from(end)])
  parser.consume(bytes, 0, bytes.length)
  assert.equal(parser.done, parser.failure === null)
  return parser.failure?.code ?? null
}

describe('HeadParser', () => {
  it('judges every byte in a value as the table does', () => {
    for (let byte = 0; byte < 256; byte++) {
      let expected: string | null = FIELD_VALUE_BYTE[byte] === 1 ? null : 'HPE_INVALID_HEADER_TOKEN'
      if (byte === LF) expected = 'HPE_CR_EXPECTED'
      if (byte === CR) expected = 'HPE_LF_EXPECTED'
      assert.equal(verdict('HTTP/1.1 200 OK\r\na: b', byte, 'c\r\n\r\n'), expected, `byte ${byte}`)
    }
  })

  it('judges every byte in a name as the table does', () => {
    for (let byte = 0; byte < 256; byte++) {
      const expected = TOKEN_BYTE[byte] === 1 || byte === 0x3a ? null : 'HPE_INVALID_HEADER_TOKEN'
      assert.equal(verdict('HTTP/1.1 200 OK\r\na', byte, 'b: c\r\n\r\n'), expected, `byte ${byte}`)
    }
  })

  it('judges every byte in a reason phrase as the table does', () => {
    for (let byte = 0; byte < 256; byte++) {
      let expected: string | null = FIELD_VALUE_BYTE[byte] === 1 ? null : 'HPE_INVALID_STATUS'
      if (byte === LF) expected = 'HPE_CR_EXPECTED'
      if (byte === CR) expected = 'HPE_STRICT'
      assert.equal(verdict('HTTP/1.1 200 O', byte, 'K\r\n\r\n'), expected, `byte ${byte}`)
    }
  })

  it('leaves what follows the head, wherever the head was cut', () => {
    const head = `HTTP/1.1 200 OK\r\n${'name: value\r\n'.repeat(200)}\r\n`
    const bytes = Buffer.from(`${head}${'body'.repeat(20_000)}`)
    for (const cut of [0, 1, 500, head.length - 1]) {
      const parser = new HeadParser(LIMITS)
      parser.beginHead()
      assert.equal(parser.consume(bytes, 0, cut), cut)
      assert.equal(parser.consume(bytes, cut, bytes.length), head.length)
      assert.equal(parser.done, true)
      assert.equal(parser.head?.fields.flat.length, 400)
      assert.equal(parser.head?.version, 11)
      assert.equal(parser.head?.status, 200)
      assert.equal(parser.head?.reason, 'OK')
    }
  })

  it('reads one head after another', () => {
    const parser = new HeadParser(LIMITS)
    for (const [text, status, size] of [
      ['HTTP/1.1 200 Fine\r\na: b\r\ncontent-length: 3\r\n\r\n', 200, 2],
      ['HTTP/1.0 404\r\n\r\n', 404, 0],
    ] as const) {
      const bytes = Buffer.from(text)
      parser.beginHead()
      parser.consume(bytes, 0, 10)
      parser.consume(bytes, 10, bytes.length)
      assert.equal(parser.head?.status, status)
      assert.equal(parser.head?.fields.flat.length, 2 * size)
      assert.equal(parser.head?.framing.contentLength, size === 2 ? 3 : -1)
    }
    assert.equal(parser.head?.reason, '')
  })
})
