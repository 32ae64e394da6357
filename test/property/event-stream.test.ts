// Any split of the bytes of an event stream gives the same reports, and they are those of a reading of the standard
// that is too simple to be fast: the whole text is decoded, split into lines, and each line is taken apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from '../protocol/event-stream/parse.ts'

/** Text near the edges of the grammar: fields and what looks like them, every line end, bytes that are not UTF-8. */
const piece = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom(
        ...['data', 'event', 'id', 'retry', 'data:', 'data: ', 'event: ', 'event:', 'id: ', 'id:', 'retry: '],
        ...[
          ':',
          ': ',
          ' ',
          'x',
          '12',
          '\n',
          '\n',
          '\n\n',
          '\r',
          '\r\n',
          '\r\n\r\n',
          '\0',
          '\ufeff',
          'é',
          '😀',
        ],
      )
      .map((text) => Buffer.from(text)),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  },
)
const stream = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.concat(pieces))
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 })

test('any split of the bytes gives the same reports', () => {
  fc.assert(
    fc.property(stream, cuts, (bytes, places) => {
      const whole = parse([bytes])
      assert.deepEqual(parse(split(bytes, places)), whole)
      assert.deepEqual(parse(split(bytes, [...bytes.keys()])), whole)
    }),
    { numRuns: 2000 },
  )
})

test('any split of the bytes meets the same limit', () => {
  fc.assert(
    fc.property(stream, cuts, fc.integer({ min: 1, max: 12 }), (bytes, places, max) => {
      assert.deepEqual(parse(split(bytes, places), max), parse([bytes], max))
    }),
    { numRuns: 2000 },
  )
})

test('the reports are those of the standard', () => {
  fc.assert(
    fc.property(stream, (bytes) => assert.deepEqual(parse([bytes]), readPlainly(bytes))),
    { numRuns: 2000 },
  )
})

function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [...new Set([0, ...places.filter((at) => at < bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  )
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
}

function readPlainly(bytes: Buffer): string[] {
  const reports: string[] = []
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)
  lines.pop()
  let data: string[] = []
  let type = ''
  let id = ''
  for (const line of lines) {
    const [, name, value] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line)!
    if (line === '') {
      if (data.length > 0) reports.push(`${type || 'message'} ${JSON.stringify(data.join('\n'))} id=${id}`)
      data = []
      type = ''
    } else if (name === '') reports.push(`comment ${value}`)
    else if (name === 'data') data.push(value!)
    else if (name === 'event') type = value!
    else if (name === 'id' && !value!.includes('\0')) id = value!
    else if (name === 'retry' && /^[0-9]+$/.test(value!)) reports.push(`retry ${Number(value)}`)
  }
  return reports
}
