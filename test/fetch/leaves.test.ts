/** Cases for the parts of fetch without I/O: MIME types, `data:` URLs, forms, hashes, referrers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { matchesIntegrity, parseIntegrity } from '../../src/fetch/body/integrity.ts'
import { decodeMultipart, decodeUrlEncoded, type FormEntry } from '../../src/fetch/form/multipart-decode.ts'
import { encodeMultipart } from '../../src/fetch/form/multipart-encode.ts'
import { parseReferrerPolicy, type ReferrerPolicy, referrerOf } from '../../src/fetch/headers/referrer.ts'
import { extractMimeType, parseMimeType, serializeMimeType } from '../../src/fetch/mime/mime-type.ts'
import { parseDataUrl } from '../../src/fetch/url/data-url.ts'
import { wellFormed } from '../../src/web/idl.ts'
import { contentOf } from '../support/exchange.ts'

describe('a MIME type', () => {
  const rows: [input: string, output: string | null][] = [
    ['text/html;charset=gbk', 'text/html;charset=gbk'],
    ['TEXT/HTML;CHARSET=GBK', 'text/html;charset=GBK'],
    ['text/html;charset=gbk;charset=windows-1255', 'text/html;charset=gbk'],
    ['text/html;charset=gbk(', 'text/html;charset="gbk("'],
    ['text/html;x=(;charset=gbk', 'text/html;x="(";charset=gbk'],
    ['text/html;charset=();charset=GBK', 'text/html;charset="()"'],
    ['text/html;charset =gbk', 'text/html'],
    ['text/html ;charset=gbk', 'text/html;charset=gbk'],
    ['text/html; charset=gbk', 'text/html;charset=gbk'],
    ['text/html;charset= gbk', 'text/html;charset=" gbk"'],
    ['text/html;charset= "gbk"', 'text/html;charset=" \\"gbk\\""'],
    ["text/html;charset='gbk'", "text/html;charset='gbk'"],
    ['text/html;charset="gbk', 'text/html;charset=gbk'],
    ['text/html;charset=gbk"', 'text/html;charset="gbk\\""'],
    ['text/html;charset="\\ gbk"', 'text/html;charset=" gbk"'],
    ['text/html;charset="\\g\\b\\k"', 'text/html;charset=gbk'],
    ['text/html;charset="gbk"x', 'text/html;charset=gbk'],
    ['text/html;charset="";charset=GBK', 'text/html;charset=""'],
    ['text/html;charset=";charset=GBK', 'text/html;charset=";charset=GBK"'],
    ['text/html;;;;charset=gbk', 'text/html;charset=gbk'],
    ['text/html;charset= ;charset=GBK', 'text/html;charset=GBK'],
    ['text/html;charset=\u0100;charset=GBK', 'text/html;charset=GBK'],
    ['text/html;=;charset=gbk', 'text/html;charset=gbk'],
    ['text/html;a b=c;charset=gbk', 'text/html;charset=gbk'],
    ['text/html;test;charset=gbk', 'text/html;charset=gbk'],
    ['text/html;test=\u00ff;charset=gbk', 'text/html;test="\u00ff";charset=gbk'],
    ['\r\ntext/html\t', 'text/html'],
    ['\n\r\t x/x;x=x\n\r\t ', 'x/x;x=x'],
    ['x/x\n\r\t ;x=x', 'x/x;x=x'],
    ['x/x;\n\r\t x=x\n\r\t ;x=y', 'x/x;x=x'],
    ['text/html;\u000bcharset=gbk', 'text/html'],
    ['text/html;\u000ccharset=gbk', 'text/html'],
    ['text/html;\tcharset=gbk', 'text/html;charset=gbk'],
    ['text/html;charset=\u000cgbk', 'text/html'],
    ['text/html;charset="\\"gbk"', 'text/html;charset="\\"gbk"'],
    ['text/html;charset=";charset=foo";charset=GBK', 'text/html;charset=";charset=foo"'],
    ['text/html;charset="\\a\\;x=y"', 'text/html;charset="a;x=y"'],
    ['text/html;charset="a;b"junk;x=y', 'text/html;charset="a;b";x=y'],
    ['text/html;charset==gbk', 'text/html;charset="=gbk"'],
    ['text/html;charset', 'text/html'],
    ['text/html;charset=', 'text/html'],
    ['text/html;"charset"=gbk', 'text/html'],
    ['text/html;é=x;charset=gbk', 'text/html;charset=gbk'],
    ['text/html;test=\ufffd;charset=gbk', 'text/html;charset=gbk'],
    ['x/x;x= ', 'x/x'],
    ['x/x;x=\t', 'x/x'],
    ['x/x;x=" \t"', 'x/x;x=" \t"'],
    ['x/x;', 'x/x'],
    ['x/x;;', 'x/x'],
    [`x/x;${'n'.repeat(300)}=v`, `x/x;${'n'.repeat(300)}=v`],
    [`${'t'.repeat(127)}/${'s'.repeat(127)}`, `${'t'.repeat(127)}/${'s'.repeat(127)}`],
    ['x/x;x=x;X=y', 'x/x;x=x'],
    ['x/x;a="\\', 'x/x;a="\\\\"'],
    ['x/x;a="b\\', 'x/x;a="b\\\\"'],
    ['bogus', null],
    ['', null],
    ['/', null],
    ['text/', null],
    ['/html', null],
    ['text/html/x', null],
    ['te xt/html', null],
    ['text/ht ml', null],
    ['(/x', null],
    ['\u000btext/html', null],
    ['text/html\u000c', null],
    ['\u000b', null],
    ['\u0100/x', null],
    ['x/\u0100', null],
    ['text/html(;doesnot=matter', null],
    ['text/html{;doesnot=matter', null],
    ['text/ html', null],
    ['text /html', null],
    ['"text/html"', null],
    [';charset=gbk', null],
    [' ', null],
  ]
  for (const [input, output] of rows) {
    test(JSON.stringify(input), () => {
      const parsed = parseMimeType(input)
      assert.equal(parsed === null ? null : serializeMimeType(parsed), output)
    })
  }

  /** RFC 9110 §5.6.2. */
  const isTokenCode = (code: number): boolean => /[!#$%&'*+\-.^_`|~\w]/.test(String.fromCharCode(code))

  test('each character in each place', () => {
    for (let code = 0; code <= 0x100; code++) {
      const one = String.fromCharCode(code)
      const where = `U+${code.toString(16)}`
      const lower = one.toLowerCase()
      const isToken = code < 0x80 && isTokenCode(code)
      // In the middle, so that white space is not taken away.
      for (const [text, essence] of [
        [`a${one}b/x`, `a${lower}b/x`],
        [`x/a${one}b`, `x/a${lower}b`],
      ] as const) {
        if (one === ';' && text.startsWith('x/')) continue
        assert.equal(parseMimeType(text)?.essence, isToken ? essence : undefined, where)
      }
      const named = parseMimeType(`x/x;a${one}b=v;last=1`)!.parameters
      assert.equal(named.get(`a${lower}b`), isToken ? 'v' : undefined, where)
      assert.equal(named.get('last'), '1', where)
      const isQuotable = code === 9 || (code >= 0x20 && code <= 0x7e) || (code >= 0x80 && code <= 0xff)
      const quoted = parseMimeType(`x/x;n="a${one}b"`)!.parameters.get('n')
      const content = one === '"' ? 'a' : one === '\\' ? 'ab' : `a${one}b`
      assert.equal(quoted, isQuotable ? content : undefined, where)
      const bare = parseMimeType(`x/x;n=a${one}b`)!.parameters.get('n')
      assert.equal(bare, isQuotable ? (one === ';' ? 'a' : `a${one}b`) : undefined, where)
    }
  })

  test('any text: no exception, and what is written again stays as it is', () => {
    const unit = fc.constantFrom(...'aA/;= "\\\t\r\n,\u000b\u00ff\u0100')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const parsed = parseMimeType(`a/b;${text}`)!
        const written = serializeMimeType(parsed)
        assert.deepEqual(parseMimeType(written), parsed)
        parseMimeType(text)
        extractMimeType([text, written])
      }),
      { numRuns: 500 },
    )
  })

  test('of a header: the last that is one, with the charset before it', () => {
    for (const [values, output] of [
      [['text/plain;charset=gbk', 'text/html'], 'text/html'],
      [['text/html;charset=gbk;a=b, text/html;x=y'], 'text/html;x=y;charset=gbk'],
      [['text/html;charset=gbk', 'text/html;charset=big5'], 'text/html;charset=big5'],
      [['text/html;charset=gbk', 'text/plain', 'text/html'], 'text/html'],
      [['text/html;charset=gbk', '*/*'], 'text/html;charset=gbk'],
      [['text/html', 'nonsense'], 'text/html'],
      [['text/html;a=",b/c"'], 'text/html;a=",b/c"'],
      [['nonsense', ''], null],
      [[], null],
    ] as const) {
      const type = extractMimeType(values)
      assert.equal(type === null ? null : serializeMimeType(type), output, values.join(' | '))
    }
  })

  test('what is written is read the same', () => {
    const value = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    })
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), value), (parameters) => {
        const map = new Map(Object.entries(parameters))
        const text = serializeMimeType({ type: 'a', subtype: 'b', essence: 'a/b', parameters: map })
        assert.deepEqual(parseMimeType(text)?.parameters, map)
      }),
    )
  })
})

describe('a data: URL', () => {
  const rows: [url: string, type: string | null, body?: string][] = [
    ['data:,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data://test/,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:text/html,X', 'text/html', 'X'],
    ['data:text/html ,X', 'text/html', 'X'],
    ['data:;charset=x,X', 'text/plain;charset=x', 'X'],
    ['data:;charset =x,X', 'text/plain', 'X'],
    ['data:charset=x,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:image/png,a,b', 'image/png', 'a,b'],
    ['data:,%FF', 'text/plain;charset=US-ASCII', '\xff'],
    ['data:,%F', 'text/plain;charset=US-ASCII', '%F'],
    ['data:,%zz%41', 'text/plain;charset=US-ASCII', '%zzA'],
    ['data:,X#Y', 'text/plain;charset=US-ASCII', 'X'],
    ['data:,X?Y', 'text/plain;charset=US-ASCII', 'X?Y'],
    ['data:,a b', 'text/plain;charset=US-ASCII', 'a b'],
    ['data:;base64,WA', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,WA==', 'text/plain;charset=US-ASCII', 'X'],
    ['data:; base64,WA', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;  BaSe64,WA', 'text/plain;charset=US-ASCII', 'X'],
    ['data:x/x;base64 ,WA', 'x/x', 'X'],
    ['data:;base64;sdfgsdfgsdf=,WA', 'text/plain', 'WA'],
    ['data:;base64,W%20A', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,%57%41', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,', 'text/plain;charset=US-ASCII', ''],
    ['data:base64,WA', 'text/plain;charset=US-ASCII', 'WA'],
    ['data:,', 'text/plain;charset=US-ASCII', ''],
    ['data:,%00', 'text/plain;charset=US-ASCII', '\0'],
    ['data:,%', 'text/plain;charset=US-ASCII', '%'],
    ['data:,%4', 'text/plain;charset=US-ASCII', '%4'],
    ['data:,%g1%1g', 'text/plain;charset=US-ASCII', '%g1%1g'],
    ['DATA:,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:X,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:text / html,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:†,X', 'text/plain;charset=US-ASCII', 'X'],
    ['data:†/†,X', '%e2%80%a0/%e2%80%a0', 'X'],
    ['data:  text/html  ,X', 'text/html', 'X'],
    ['data:;x=x,X', 'text/plain;x=x', 'X'],
    ['data:;x=x;charset=x,X', 'text/plain;x=x;charset=x', 'X'],
    ['data:;charset=,X', 'text/plain', 'X'],
    ['data:;CHARSET="X",X', 'text/plain;charset=X', 'X'],
    ['data:text/plain;a=",",X', 'text/plain;a=""', '",X'],
    ['data:text/plain;a=%2C,X', 'text/plain;a=%2C', 'X'],
    ['data:;base64;base64,WA', 'text/plain', 'X'],
    ['data:x/x;base64;base64,WA', 'x/x', 'X'],
    ['data:x/x;base64;charset=x,WA', 'x/x;charset=x', 'WA'],
    ['data:x/x;base64;charset=x;base64,WA', 'x/x;charset=x', 'X'],
    ['data:x/x;base64;base64x,WA', 'x/x', 'WA'],
    ['data:x;base64=x,WA', 'text/plain;charset=US-ASCII', 'WA'],
    ['data:; base64;base64,WA', 'text/plain', 'X'],
    ['data:;%62ase64,WA', 'text/plain', 'WA'],
    ['data:%3Bbase64,WA', 'text/plain;charset=US-ASCII', 'WA'],
    ['data:;base64,W%0CA', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,WA%3D%3D', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,WB', 'text/plain;charset=US-ASCII', 'X'],
    ['data:;base64,W', null],
    ['data:;base64,WA=', null],
    ['data:;base64,WA===', null],
    ['data:;base64,W-A_', null],
    ['data:x', null],
    ['data:', null],
  ]
  for (const [url, type, body] of rows) {
    test(url, () => {
      const data = parseDataUrl(new URL(url))
      if (type === null) assert.equal(data, null)
      else assert.deepEqual([data?.mimeType, Buffer.from(data!.body).toString('latin1')], [type, body])
    })
  }

  test('base64 is as forgiving as atob, and not more', () => {
    const unit = fc.constantFrom(...'AbZ09+/=-_~ \t\n\f\r\u000b\0')
    const expected = (text: string): string | null => {
      try {
        return atob(text)
      } catch {
        return null
      }
    }
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        const data = parseDataUrl(new URL(`data:;base64,${encodeURIComponent(text)}`))
        const body = data === null ? null : Buffer.from(data.body).toString('latin1')
        assert.equal(body, expected(text))
      }),
      { numRuns: 2000 },
    )
  })

  test('any bytes survive both codings', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
        for (const text of [`data:,${escaped}`, `data:;base64,${Buffer.from(bytes).toString('base64')}`]) {
          assert.deepEqual(parseDataUrl(new URL(text))?.body, bytes)
        }
      }),
    )
  })
})

const BOUNDARY = '----boundary'
const multipart = (...lines: string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')
const entriesOf = (bytes: Buffer): readonly FormEntry[] => decodeMultipart(bytes, BOUNDARY)
const refuses = (bytes: Buffer, what = ''): void => assert.throws(() => entriesOf(bytes), TypeError, what)

describe('multipart/form-data', () => {
  test('written: names, line ends, files; a form without fields is its end alone', async () => {
    const encoded = encodeMultipart(
      [
        ['a\r"\n', 'x\ry\nz\r\n'],
        ['f', new File(['1'], 'n"\n.txt')],
        ['g', new Blob(['2'], { type: 'a/b' })],
      ],
      BOUNDARY,
    )
    const head = 'Content-Disposition: form-data; '
    const expected = [
      `--${BOUNDARY}`,
      `${head}name="a%0D%0A%22%0D%0A"`,
      '',
      'x\r\ny\r\nz\r\n',
      `--${BOUNDARY}`,
      `${head}name="f"; filename="n%22%0A.txt"`,
      'Content-Type: application/octet-stream',
      '',
      '1',
      `--${BOUNDARY}`,
      `${head}name="g"; filename="blob"`,
      'Content-Type: a/b',
      '',
      '2',
      `--${BOUNDARY}--`,
      '',
    ].join('\r\n')
    const bytes = await contentOf(encoded.chunks())
    assert.equal(bytes.toString(), expected)
    assert.deepEqual([encoded.length, encoded.bytes()], [bytes.length, null])
    assert.equal(encoded.contentType, `multipart/form-data; boundary=${BOUNDARY}`)
    const empty = encodeMultipart([], BOUNDARY)
    const end = `--${BOUNDARY}--\r\n`
    assert.deepEqual([empty.length, String(Buffer.from(empty.bytes()!))], [end.length, end])
    assert.deepEqual(entriesOf(Buffer.from(end)), [])
    const unsized = { stream: () => contentOf([] as never), type: 'a\r\nb' }
    const odd = encodeMultipart([['x', unsized]], BOUNDARY)
    assert.equal(odd.length, null)
    const forged = { stream: () => new Blob([]).stream(), type: 'a/b\r\nx: y' }
    const safe = await contentOf(encodeMultipart([['x', forged]], BOUNDARY).chunks())
    assert.match(safe.toString(), /\r\nContent-Type: application\/octet-stream\r\n\r\n/)
  })

  test('read: what stands around the parts, and fields nobody asked for', () => {
    const bytes = multipart(
      'preamble',
      `--${BOUNDARY} \t`,
      'X-Other: 1',
      'Content-Disposition: form-data; filename=plain; name=a',
      '',
      '',
      `--${BOUNDARY}`,
      'content-disposition:form-data;name="b%22"',
      'content-type: text/plain; charset=x',
      '',
      'text--',
      `--${BOUNDARY}x`,
      `--${BOUNDARY}--`,
      'epilogue',
    )
    refuses(bytes)
    const clean = multipart(
      `--${BOUNDARY}`,
      'Content-Disposition: form-data; filename=plain; name=a',
      '',
      '',
      `--${BOUNDARY}`,
      'content-disposition:form-data;name="b%22"',
      'content-type: text/plain; charset=x',
      '',
      `text--${BOUNDARY}`,
      `--${BOUNDARY}--`,
      'epilogue',
    )
    assert.deepEqual(entriesOf(clean), [
      { name: 'a', filename: 'plain', contentType: 'text/plain', bytes: Buffer.alloc(0) },
      { name: 'b"', value: `text--${BOUNDARY}` },
    ])
    assert.deepEqual(entriesOf(multipart(`--${BOUNDARY}--`)), [])
    // Space after a boundary is padding; a byte order mark is part of a text.
    const padded = multipart(
      `--${BOUNDARY} \t`,
      'content-disposition: form-data; name=a',
      '',
      '\xef\xbb\xbftext',
      `--${BOUNDARY}--`,
    )
    assert.deepEqual(entriesOf(padded), [{ name: 'a', value: '\ufefftext' }])
    const twice = multipart(
      `--${BOUNDARY}`,
      'content-disposition: form-data; name=a; name=b; filename=c; filename=d',
      '',
      '',
      `--${BOUNDARY}--`,
    )
    assert.deepEqual(entriesOf(twice), [
      { name: 'a', filename: 'c', contentType: 'text/plain', bytes: Buffer.alloc(0) },
    ])
  })

  describe('filename*', () => {
    const read = (parameters: string, type = ''): readonly FormEntry[] => {
      const head = `content-disposition: form-data; name=a; ${parameters}`
      const lines = type === '' ? [head] : [head, `content-type: ${type}`]
      return decodeMultipart(multipart(`--${BOUNDARY}`, ...lines, '', 'x', `--${BOUNDARY}--`), BOUNDARY)
    }

    test('makes a file, and wins', () => {
      for (const [parameters, filename] of [
        ["filename*=UTF-8''gr%C3%BCn%20%22.txt", 'grün ".txt'],
        ["filename*=utf-8'de'a", 'a'],
        ["filename*= \tUTF-8''a", 'a'],
        ["filename=plain; filename*=UTF-8''a", 'a'],
        ["filename*=UTF-8''a; filename=plain", 'a'],
        ["filename*=UTF-8''", ''],
      ] as const) {
        const expected = [{ name: 'a', filename, contentType: 'text/plain', bytes: Buffer.from('x') }]
        assert.deepEqual(read(parameters), expected, parameters)
      }
    })

    test('in another charset, in quotes or malformed, is refused', () => {
      for (const parameters of [
        "filename*=ISO-8859-1''a",
        'filename*=a',
        "filename*=UTF-8'a",
        `filename*="UTF-8''a"`,
        "filename*=UTF-8''%C3",
        "filename*=UTF-8''%",
      ]) {
        assert.throws(() => read(parameters), TypeError, parameters)
      }
    })

    test('the type of a file is the one that was sent', () => {
      for (const type of ['Text/HTML; Charset="x"', 'a/b;c=d;c=e', 'odd']) {
        const [entry] = read("filename*=UTF-8''a", type) as readonly FormEntry[]
        assert.equal((entry as { contentType: string }).contentType, type)
      }
    })
  })

  test('refused', () => {
    const part = ['content-disposition: form-data; name="a"', '', 'x']
    for (const lines of [
      [''],
      ['nothing'],
      [`x--${BOUNDARY}`, ...part, `--${BOUNDARY}--`],
      [`--${BOUNDARY}`],
      [`--${BOUNDARY}`, ...part],
      [`--${BOUNDARY}junk`, ...part, `--${BOUNDARY}--`],
      [`--${BOUNDARY}`, 'content-disposition: form-data', '', 'x', `--${BOUNDARY}--`],
      [`--${BOUNDARY}`, 'content-disposition: attachment; name="a"', '', 'x', `--${BOUNDARY}--`],
      [`--${BOUNDARY}`, 'content-disposition: form-data; name="a', '', 'x', `--${BOUNDARY}--`],
      [`--${BOUNDARY}`, 'no field', '', 'x', `--${BOUNDARY}--`],
      [`--${BOUNDARY}`, 'content-disposition: form-data; name="a"'],
      // The line end before a boundary belongs to it: this part has no content, not even an empty one.
      [`--${BOUNDARY}`, 'content-disposition: form-data; name="a"', '', `--${BOUNDARY}--`],
    ]) {
      refuses(multipart(...lines), lines.join('|'))
    }
  })

  test('any bytes are read or refused, and a prefix of a form is refused', async () => {
    const part = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n`
    const whole = Buffer.from(`${part}${part}--${BOUNDARY}--\r\n`)
    const end = whole.length - '\r\n'.length
    for (let at = 0; at < end; at++) {
      refuses(whole.subarray(0, at), String(at))
    }
    assert.equal(entriesOf(whole.subarray(0, end)).length, 2)
    const piece = fc.constantFrom(
      `--${BOUNDARY}`,
      '--',
      '\r\n',
      '\r',
      'content-disposition: form-data; name="a"',
      'content-disposition: form-data; name=',
      '; filename="',
      '"',
      'content-type: a/b',
      ':',
      'x',
      '\0',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        let read: readonly FormEntry[] = []
        try {
          read = entriesOf(Buffer.from(pieces.join('')))
        } catch (error) {
          assert.ok(error instanceof TypeError && error.message.length > 0)
        }
        for (const { name } of read) assert.equal(typeof name, 'string')
      }),
      { numRuns: 2000 },
    )
  })

  test('what is written is read the same', async () => {
    const file = fc.record({ name: fc.string(), bytes: fc.uint8Array() })
    const entry = fc.tuple(fc.string({ unit: 'binary' }), fc.oneof(fc.string({ unit: 'binary' }), file))
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (fields) => {
        const form = fields.map(([name, value]) => {
          const made =
            typeof value === 'string' ? value : new File([value.bytes as never], value.name, { type: 'a/b' })
          return [wellFormed(name), typeof made === 'string' ? wellFormed(made) : made] as const
        })
        const encoded = encodeMultipart(form, BOUNDARY)
        const read = entriesOf(await contentOf(encoded.chunks()))
        const lines = (text: string): string => text.replace(/\r\n|\r|\n/g, '\r\n')
        assert.equal(read.length, fields.length)
        for (const [index, [name, value]] of form.entries()) {
          const got = read[index]!
          // A percent sign is not escaped: names that look like an escape are read as what they look like.
          if (!/%0a|%0d|%22/i.test(name)) assert.equal(got.name, lines(name))
          if (typeof value === 'string') assert.equal((got as { value: string }).value, lines(value))
          else
            assert.deepEqual(
              Buffer.from((got as { bytes: Uint8Array }).bytes),
              Buffer.from(await value.arrayBuffer()),
            )
        }
      }),
      { numRuns: 60 },
    )
  })
})

test('application/x-www-form-urlencoded', () => {
  const read = (text: string) => [...decodeUrlEncoded(Buffer.from(text))]
  assert.deepEqual(read('a=1&b=%C3%BC+x&&c&=d'), [
    ['a', '1'],
    ['b', 'ü x'],
    ['c', ''],
    ['', 'd'],
  ])
  assert.deepEqual(read('?a=1'), [['?a', '1']])
  assert.deepEqual(read('\ufeffa=1'), [['\ufeffa', '1']])
  assert.deepEqual(read(''), [])
})

test('integrity metadata', () => {
  assert.equal(parseIntegrity(''), null)
  assert.equal(parseIntegrity('md5-x sha1-y sha-256 sha2567-x'), null)
  assert.deepEqual(parseIntegrity('  sha256-aa==  SHA384-b_-?x sha384-c'), {
    algorithm: 'sha384',
    hashes: ['b/+', 'c'],
  })
  assert.equal(matchesIntegrity(new Uint8Array(), null), true)
  const empty = 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
  assert.equal(matchesIntegrity(new Uint8Array(), parseIntegrity(empty)), true)
  assert.equal(matchesIntegrity(new Uint8Array(1), parseIntegrity(empty)), false)
  // Each is an expression with a known algorithm, and no hash.
  for (const odd of ['sha256', 'sha256-', 'sha256-!', 'sha256-?x', `${empty}==`, empty.replace('-', '-"')]) {
    assert.equal(matchesIntegrity(new Uint8Array(), parseIntegrity(odd)), false, odd)
    assert.equal(matchesIntegrity(new Uint8Array(), parseIntegrity(`${odd} ${empty}`)), true, odd)
    const stronger = odd.replace('sha256', 'sha512')
    assert.equal(matchesIntegrity(new Uint8Array(), parseIntegrity(`${stronger} ${empty}`)), false, odd)
  }
})

describe('a referrer', () => {
  const page = 'https://user:pass@a.test/page?q#f'
  const full = 'https://a.test/page?q'
  const origin = 'https://a.test/'
  const told = (referrer: string, referrerPolicy: ReferrerPolicy, current: string): string =>
    referrerOf({ referrer: new URL(referrer), referrerPolicy, url: { url: new URL(current) } }, undefined)
  /** To the same origin, to another, to another without TLS. */
  const rows: [policy: ReferrerPolicy, same: string, other: string, downgrade: string][] = [
    ['no-referrer', '', '', ''],
    ['no-referrer-when-downgrade', full, full, ''],
    ['same-origin', full, '', ''],
    ['origin', origin, origin, origin],
    ['strict-origin', origin, origin, ''],
    ['origin-when-cross-origin', full, origin, origin],
    ['strict-origin-when-cross-origin', full, origin, ''],
    ['', full, origin, ''],
    ['unsafe-url', full, full, full],
  ]
  for (const [policy, ...expected] of rows) {
    test(policy || 'the default', () => {
      const currents = ['https://a.test/x', 'https://b.test/', 'http://b.test/']
      assert.deepEqual(
        currents.map((current) => told(page, policy, current)),
        expected,
      )
    })
  }

  test('that is too long is told as its origin; one that is no page is not told', () => {
    const tell = (referrer: string): string => told(referrer, 'unsafe-url', page)
    assert.equal(tell(`${origin}${'x'.repeat(4096)}`), origin)
    assert.equal(tell('data:,x'), '')
  })

  test('is told to a server on loopback as to one with TLS', () => {
    const tell = (current: string): string => told('https://a.test/', 'strict-origin', current)
    for (const host of ['127.0.0.1:8080', '127.9.9.9', '[::1]:8080', 'localhost', 'a.localhost']) {
      assert.equal(tell(`http://${host}/`), origin, host)
    }
    for (const host of ['[::2]', '128.0.0.1', 'localhost.test', 'notlocalhost']) {
      assert.equal(tell(`http://${host}/`), '', host)
    }
  })

  test('policies of a header', () => {
    assert.equal(parseReferrerPolicy('origin, unknown, Same-Origin , also-unknown'), 'same-origin')
    assert.equal(parseReferrerPolicy('unknown'), '')
    assert.equal(parseReferrerPolicy(''), '')
  })
})
