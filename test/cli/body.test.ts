import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { contentOf, prettyJson, preview, textOf } from '../../src/cli/body.ts'
import type { Incoming } from '../../src/cli/exchange.ts'
import { EXIT, failureOf } from '../../src/cli/failure.ts'
import { TextLayout } from '../../src/cli/text-layout.ts'

const NOTE = '  … cut here; -o FILE saves it'
const layout = new TextLayout(80, false)

function incoming(body: string | Buffer, headers: Record<string, string> = {}, size?: number): Incoming {
  const data = Buffer.from(body)
  const fields = Object.entries(headers)
  return { status: 200, statusText: '', headers: fields, trailers: [], size: size ?? data.length, body: data }
}

const shown = (...args: Parameters<typeof incoming>): string[] =>
  preview(contentOf(incoming(...args)), layout)
const JSON_TYPE = { 'Content-Type': 'application/problem+json; charset=utf-8' }

test('JSON is laid out, and its tokens stay what they are', () => {
  const text = '{"a":[1,{"b":12345678901234567890}],"c":"x, {y}: \\"[z]\\"","d":{ },"e":[\n],"f":1.0}'
  assert.deepEqual(shown(text, JSON_TYPE), [
    '  {',
    '    "a": [',
    '      1,',
    '      {',
    '        "b": 12345678901234567890',
    '      }',
    '    ],',
    '    "c": "x, {y}: \\"[z]\\"",',
    '    "d": {},',
    '    "e": [],',
    '    "f": 1.0',
    '  }',
  ])
  assert.deepEqual(JSON.parse(prettyJson(text)), JSON.parse(text))
  assert.equal(prettyJson(' "x" '), '"x"')
  assert.deepEqual(shown('{no', JSON_TYPE), ['  {no'])
  assert.deepEqual(shown('[1]', { 'content-type': 'text/plain' }), ['  [1]'])
})

test('brackets without end do not fill the memory', () => {
  const depth = 100_000
  assert.ok(prettyJson('['.repeat(depth) + ']'.repeat(depth)).length < 100 * depth)
})

test('text is wrapped, cleaned and cut', () => {
  assert.deepEqual(shown('a\r\n\tb\x1b[31m\n'), ['  a', '    b\\x1b[31m'])
  assert.deepEqual(shown(`${'x'.repeat(100)}`), [`  ${'x'.repeat(78)}`, `  ${'x'.repeat(22)}`])
  const many = shown(Array.from({ length: 50 }, (_, i) => i).join('\n'))
  assert.deepEqual([many.length, many[39], many[40]], [41, '  39', NOTE])
  assert.equal(shown(Array.from({ length: 40 }, (_, i) => i).join('\n')).at(-1), '  39')
  // The beginning of a body that was not kept in full, cut within a character.
  assert.deepEqual(shown(Buffer.from('grü').subarray(0, 3), {}, 10), ['  gr', NOTE])
  assert.deepEqual(shown(''), [])
})

test('what is no text is shown in hexadecimal', () => {
  const data = Buffer.from(Array.from({ length: 20 }, (_, i) => i * 10))
  assert.deepEqual(shown(data), [
    '  000000  00 0a 14 1e 28 32 3c 46 50 5a 64 6e 78 82 8c 96  ····(2<FPZdnx···',
    '  000010  a0 aa b4 be                                      ····',
  ])
  const narrow = preview(contentOf(incoming(data)), new TextLayout(60, false))
  assert.equal(narrow.length, 3)
  assert.deepEqual([shown(Buffer.alloc(1000)).length, shown(Buffer.alloc(1000)).at(-1)], [13, NOTE])
})

test('charsets', () => {
  assert.equal(textOf(Buffer.of(0xe9), 'text/plain; charset=iso-8859-1', true), 'é')
  assert.equal(textOf(Buffer.from('é'), 'text/plain; charset="no-such"', true), 'é')
  assert.equal(textOf(Buffer.of(0xe9), 'text/plain', true), null)
  assert.equal(textOf(Buffer.of(0), 'text/plain', true), null)
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
