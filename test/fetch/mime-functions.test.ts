import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseMIMEType, serializeAMimeType } from '../../src/index.ts'

/** Input → the serialised result; null for a failure. Cases of the MIME Sniffing standard's text. */
const CASES: readonly (readonly [input: string, serialized: string | null])[] = [
  ['text/html;charset=gbk', 'text/html;charset=gbk'],
  ['TEXT/HTML;CHARSET=GBK', 'text/html;charset=GBK'],
  ['text/html;charset=gbk(', 'text/html;charset="gbk("'],
  ['text/html;x=(;charset=gbk', 'text/html;x="(";charset=gbk'],
  ['text/html;charset=gbk;charset=windows-1255', 'text/html;charset=gbk'],
  ['text/html;charset=();charset=GBK', 'text/html;charset="()"'],
  ['text/html;charset =gbk', 'text/html'],
  ['text/html ;charset=gbk', 'text/html;charset=gbk'],
  ['text/html; charset=gbk', 'text/html;charset=gbk'],
  ['text/html;charset= gbk', 'text/html;charset=" gbk"'],
  ['text/html;charset= "gbk"', 'text/html;charset=" \\"gbk\\""'],
  ["text/html;charset='gbk'", "text/html;charset='gbk'"],
  ['text/html;charset="gbk"', 'text/html;charset=gbk'],
  ['text/html;charset="gbk', 'text/html;charset=gbk'],
  ['text/html;charset=gbk"', 'text/html;charset="gbk\\""'],
  ['text/html;charset=" gbk"', 'text/html;charset=" gbk"'],
  ['text/html;charset="gbk "', 'text/html;charset="gbk "'],
  ['text/html;charset="\\ gbk"', 'text/html;charset=" gbk"'],
  ['text/html;charset="\\g\\b\\k"', 'text/html;charset=gbk'],
  ['text/html;charset="gbk"x', 'text/html;charset=gbk'],
  ['text/html;charset="";charset=GBK', 'text/html;charset=""'],
  ['text/html;a=;b="";c;A=1;a=2', 'text/html;b="";a=1'],
  ['text/html;test;charset=gbk', 'text/html;charset=gbk'],
  ['text/html;;;;charset=gbk', 'text/html;charset=gbk'],
  ['text/html;charset="', 'text/html;charset=""'],
  ['text/html;charset="\\', 'text/html;charset="\\\\"'],
  ['text/html;charset=\u{a0}x', 'text/html;charset="\u{a0}x"'],
  ['text/html;charset=\u{ffff}', 'text/html'],
  ['a/b;x="y z"', 'a/b;x="y z"'],
  ['\t\n text/html \r\n', 'text/html'],
  ['text', null],
  ['/x', null],
  ['text/', null],
  ['te xt/html', null],
  ['text/ht ml', null],
  ['', null],
  ['/', null],
  ['text/html/x', null],
  ['ÿ/ÿ', null],
]

describe('parseMIMEType and serializeAMimeType', () => {
  for (const [input, serialized] of CASES) {
    test(JSON.stringify(input), () => {
      const type = parseMIMEType(input)
      if (type === 'failure') assert.equal(serialized, null)
      else assert.equal(serializeAMimeType(type), serialized)
    })
  }

  test('a record has the type, the subtype, the essence and the parameters', () => {
    assert.deepEqual(parseMIMEType('Text/HTML; Charset="UTF-8"'), {
      type: 'text',
      subtype: 'html',
      essence: 'text/html',
      parameters: new Map([['charset', 'UTF-8']]),
    })
  })

  test('anything but a string is a failure', () => {
    for (const input of [undefined, null, 1, {}, [], Symbol('text/html'), new String('text/html')]) {
      assert.equal(parseMIMEType(input as never), 'failure')
    }
  })

  test('anything but a record is refused', () => {
    const parameters = new Map()
    for (const input of [
      ...['failure', undefined, null, 1, {}, { essence: 'a/b' }, { essence: 1, parameters }],
      { essence: 'a/b', parameters: { x: 'y' } },
      { essence: 'a/b', parameters: new Map([['x', 1]]) },
    ]) {
      assert.throws(() => serializeAMimeType(input as never), {
        name: 'TypeError',
        message: 'mimeType must be a MIME type record',
      })
    }
  })
})
