import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { contentOf, textOf } from '../../src/cli/body.ts'
import { BodyText } from '../../src/cli/body-text.ts'
import { EXIT, failureOf } from '../../src/cli/failure.ts'
import type { Incoming } from '../../src/cli/message.ts'

function incoming(body: string | Buffer, headers: Record<string, string> = {}, size?: number): Incoming {
  const data = Buffer.from(body)
  const fields = Object.entries(headers)
  return { status: 200, statusText: '', headers: fields, trailers: [], size: size ?? data.length, body: data }
}

/** What a terminal shows of a body that arrives in pieces of this size; null if it is no text. */
function shown(body: string | Buffer, mimeType = 'text/plain', piece = 1): string | null {
  const data = Buffer.from(body)
  const text = new BodyText(mimeType)
  let all = ''
  for (let at = 0; at < data.length; at += piece) all += text.add(data.subarray(at, at + piece))
  all += text.end()
  return text.isBinary ? null : all
}

const JSON_TYPE = 'application/problem+json; charset=utf-8'

test('JSON is laid out as it arrives, and its tokens stay what they are', () => {
  const text = '{"a":[1,{"b":12345678901234567890}],"c":"x, {y}: \\"[z]\\"","d":{ },"e":[\n],"f":1.0}'
  for (const piece of [1, 2, 3, 7, 1000]) {
    assert.deepEqual(shown(text, JSON_TYPE, piece)!.split('\n'), [
      '{',
      '  "a": [',
      '    1,',
      '    {',
      '      "b": 12345678901234567890',
      '    }',
      '  ],',
      '  "c": "x, {y}: \\"[z]\\"",',
      '  "d": {},',
      '  "e": [],',
      '  "f": 1.0',
      '}',
    ])
  }
  assert.deepEqual(JSON.parse(shown(text, JSON_TYPE)!), JSON.parse(text))
  assert.equal(shown(' "x  y" ', JSON_TYPE), '"x  y" ')
  assert.equal(shown('{"a":1}\n{"b":2}\n', JSON_TYPE), '{\n  "a": 1\n}\n{\n  "b": 2\n}\n')
  assert.equal(shown('[1]'), '[1]')
})

test('what only claims to be JSON keeps its words', () => {
  assert.equal(shown('{an error  happened}', JSON_TYPE), '{\n  an error happened\n}')
  assert.equal(shown('an error  happened [1]', JSON_TYPE), 'an error  happened [1]')
})

test('brackets without end do not fill the memory', () => {
  const depth = 100_000
  assert.ok(shown('['.repeat(depth) + ']'.repeat(depth), JSON_TYPE, 10_000)!.length < 100 * depth)
})

test('text is cleaned, also where it arrives in two pieces', () => {
  for (const piece of [1, 2, 100]) {
    assert.equal(
      shown('a\r\n\tb\x1b[31m\rgr\u00fc\u202e\x9b1m\r', 'text/plain', piece),
      'a\n\tb\\x1b[31m\\x0dgr\u00fc\\u202e\\x9b1m\\x0d',
    )
  }
  assert.equal(shown(''), '')
})

test('what is no text is not shown', () => {
  for (const mimeType of ['text/plain', '', JSON_TYPE]) {
    assert.equal(shown(Buffer.of(0, 1, 2), mimeType, 3), null)
    assert.equal(shown(Buffer.of(0xc3, 0x28), mimeType, 2), null)
  }
  assert.equal(shown('GIF89a', 'image/gif'), null)
  assert.equal(shown('<svg/>', 'image/svg+xml'), '<svg/>')
})

test('the beginning decides, and what is no text later is shown as escapes', () => {
  assert.equal(shown('text\0\x07', 'text/plain', 4), 'text\\x00\\x07')
  assert.equal(shown(Buffer.from([0x61, 0xff]), 'text/plain', 1), 'a\ufffd')
})

test('charsets', () => {
  assert.equal(textOf(Buffer.of(0xe9), 'text/plain; charset=iso-8859-1'), 'é')
  assert.equal(textOf(Buffer.from('é'), 'text/plain; charset="no-such"'), 'é')
  assert.equal(textOf(Buffer.of(0xe9), 'text/plain'), null)
  assert.equal(textOf(Buffer.of(0), 'text/plain'), null)
})

test('content codings are undone where that can be done', () => {
  for (const [coding, body] of Object.entries({
    GZIP: gzipSync('text'),
    deflate: deflateSync('text'),
    br: brotliCompressSync('text'),
    identity: Buffer.from('text'),
  })) {
    assert.equal(contentOf(incoming(body, { 'content-encoding': coding })).text, 'text')
  }
  assert.equal(contentOf(incoming(Buffer.of(1, 2), { 'content-encoding': 'gzip' })).bytes.length, 2)
  assert.equal(contentOf(incoming(gzipSync('text'), { 'content-encoding': 'gzip' }, 99)).text, null)
})

test('failures: exit code, message, what to do', () => {
  const coded = (code: string, fields = {}): Error =>
    Object.assign(new Error('it broke'), { code, ...fields })
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ECONNRESET']) {
    const failure = failureOf(coded(code), 'connecting')
    assert.deepEqual([failure.exitCode, failure.code, failure.message], [EXIT.connect, code, 'it broke'])
    assert.notEqual(failure.hint, '')
  }
  assert.equal(failureOf(coded('ECONNRESET'), 'receiving the body').exitCode, EXIT.protocol)
  assert.equal(failureOf(coded('EPROTO'), 'connecting').exitCode, EXIT.protocol)
  for (const code of ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']) {
    assert.equal(failureOf(coded(code), 'connecting').exitCode, EXIT.timeout)
  }
  assert.equal(failureOf(coded('X', { retrySafety: 'safe' }), 'connecting').retrySafety, 'safe')
  const strange = failureOf('a string', 'connecting')
  assert.deepEqual([strange.code, strange.message, strange.hint], ['ERROR', 'a string', ''])
})
