import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { IterableForm } from '../../src/request/body-source.ts'
import { encodeForm } from '../../src/request/form-body.ts'

function formOf(...entries: [string, unknown][]): IterableForm {
  return { get: () => null, [Symbol.iterator]: () => entries[Symbol.iterator]() }
}

async function encoded(
  form: IterableForm,
): Promise<{ text: string; boundary: string; length: number | null }> {
  const { contentType, length, chunks } = encodeForm(form)
  const parts: Uint8Array[] = []
  for await (const chunk of chunks()) parts.push(chunk)
  const text = Buffer.concat(parts).toString()
  return { text, boundary: contentType.replace('multipart/form-data; boundary=', ''), length }
}

describe('multipart/form-data', () => {
  test('an empty form is its closing delimiter', async () => {
    const { text, boundary, length } = await encoded(formOf())
    assert.equal(text, `--${boundary}--\r\n`)
    assert.equal(length, text.length)
  })

  test('values are text, whatever they were', async () => {
    const { text } = await encoded(formOf(['a', 1], ['b', null], ['c', 'x\ny\rz\r\n']))
    assert.match(text, /name="a"\r\n\r\n1\r\n/)
    assert.match(text, /name="b"\r\n\r\nnull\r\n/)
    assert.match(text, /name="c"\r\n\r\nx\r\ny\r\nz\r\n\r\n/)
  })

  test('names cannot leave their quotes', async () => {
    const { text } = await encoded(formOf(['a"; x="\r\ny', '1'], ['f', new File([''], '"\r\n')]))
    assert.match(text, /name="a%22; x=%22%0D%0Ay"\r\n/)
    assert.match(text, /filename="%22%0D%0A"\r\n/)
  })

  test('a type cannot add lines', async () => {
    const file = (type: unknown) => ({ type, size: 0, stream: async function* () {} })
    for (const type of ['a\r\nb: c', 'ü', '', 5]) {
      const { text } = await encoded(formOf(['f', file(type)]))
      assert.match(text, /filename="blob"\r\nContent-Type: application\/octet-stream\r\n\r\n/)
    }
  })

  test('the length is exact, or unknown when a part does not tell its size', async () => {
    const known = await encoded(formOf(['ü', 'ß'], ['f', new File(['grün'], 'n')]))
    assert.equal(known.length, Buffer.byteLength(known.text))
    for (const size of [undefined, Number.NaN, '3']) {
      const part = {
        size,
        async *stream() {
          yield new Uint8Array([65])
        },
      }
      assert.equal((await encoded(formOf(['f', part], ['a', 'b']))).length, null)
    }
  })

  test('boundaries differ', () => {
    const boundaries = new Set(Array.from({ length: 50 }, () => encodeForm(formOf()).contentType))
    assert.equal(boundaries.size, 50)
    for (const type of boundaries) assert.match(type, /boundary=----formdata-undici-0\d{11}$/)
  })
})
