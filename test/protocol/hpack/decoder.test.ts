import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  HPACK_COMPRESSION_ERROR,
  HPACK_LIST_TOO_LARGE,
  HPACK_OK,
  HpackDecoder,
  type HpackDecoderOptions,
  type HpackResult,
  UNREPEATABLE,
} from '../../../src/protocol/hpack/decoder.ts'
import { writeInteger } from '../../../src/protocol/hpack/integer.ts'
import { STATIC_NAMES, STATIC_VALUES } from '../../../src/protocol/hpack/static-table.ts'

const LIMITS: HpackDecoderOptions = { maxTableSize: 4096, maxListSize: 65536, maxFields: 100 }

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

/** A length with the Huffman flag or without, in hex. */
function length(octets: number, huffman: boolean): string {
  const out = Buffer.alloc(6)
  return out.toString('hex', 0, writeInteger(out, 0, huffman ? 0x80 : 0, 0x7f, octets))
}

/** A string literal without Huffman coding, in hex. */
function text(value: string): string {
  return length(value.length, false) + Buffer.from(value, 'latin1').toString('hex')
}

function decode(decoder: HpackDecoder, hex: string): { result: HpackResult; fields: string[] } {
  const wire = bytes(hex)
  const fields: string[] = []
  return { result: decoder.decode(wire, 0, wire.length, fields), fields }
}

function accept(decoder: HpackDecoder, hex: string): string[] {
  const { result, fields } = decode(decoder, hex)
  assert.equal(result, HPACK_OK, decoder.message)
  return fields
}

function refuse(hex: string, message: RegExp, decoder: HpackDecoder = new HpackDecoder(LIMITS)): void {
  const { result, fields } = decode(decoder, hex)
  assert.equal(result, HPACK_COMPRESSION_ERROR)
  assert.deepEqual(fields, [])
  assert.match(decoder.message, message)
}

test('every static entry is handed out as the one interned string', () => {
  const decoder = new HpackDecoder(LIMITS)
  assert.equal(STATIC_NAMES.length, 62)
  for (let index = 1; index <= 61; index++) {
    const fields = accept(decoder, (0x80 | index).toString(16))
    assert.deepEqual(fields, [STATIC_NAMES[index], STATIC_VALUES[index]])
  }
  assert.deepEqual(accept(decoder, '82 88 bd'), [':method', 'GET', ':status', '200', 'www-authenticate', ''])
})

test('an empty block is an empty list', () => {
  assert.deepEqual(accept(new HpackDecoder(LIMITS), ''), [])
})

test('fields are appended behind what is there, and only the given range is read', () => {
  const wire = bytes('ff 82 86 ff')
  const fields = ['x', 'y']
  assert.equal(new HpackDecoder(LIMITS).decode(wire, 1, 3, fields), HPACK_OK)
  assert.deepEqual(fields, ['x', 'y', ':method', 'GET', ':scheme', 'http'])
})

test('a failed block leaves the output as it was', () => {
  const wire = bytes('82 80')
  const fields = ['x', 'y']
  assert.equal(new HpackDecoder(LIMITS).decode(wire, 0, 2, fields), HPACK_COMPRESSION_ERROR)
  assert.deepEqual(fields, ['x', 'y'])
})

test('octets above 0x7f are latin1', () => {
  assert.deepEqual(accept(new HpackDecoder(LIMITS), `00 ${text('n')} 02 e9ff`), ['n', '\u00e9\u00ff'])
})

test('names may come from the dynamic table, even when the insertion evicts the entry', () => {
  const options = { maxTableSize: 40, initialTableSize: 40, maxListSize: 65536, maxFields: 100 }
  const decoder = new HpackDecoder(options)
  assert.deepEqual(accept(decoder, `40 ${text('name')} ${text('1')}`), ['name', '1'])
  assert.deepEqual(accept(decoder, `7e ${text('2')}`), ['name', '2'])
  assert.deepEqual(accept(decoder, `be 0f2f ${text('3')} 1f2f ${text('4')}`), [
    ...['name', '2', 'name', '3', 'name', '4'],
  ])
})

test('index 0 is refused', () => {
  refuse('80', /index 0/)
})

test('an index past the end of the table is refused in every representation', () => {
  refuse('be', /62 where the table ends at 61/)
  refuse('ff00', /127 where the table ends at 61/)
  refuse(`7e ${text('v')}`, /62/)
  refuse(`0f2f ${text('v')}`, /62/)
  refuse(`1f2f ${text('v')}`, /62/)
  refuse(`40 ${text('n')} ${text('v')} bf`, /63 where the table ends at 62/)
})

test('integers that are too large or cut off are refused', () => {
  refuse('ffffffffff7f', /integer too large/)
  refuse('ff8080808080808000', /integer too large/)
  refuse('ff', /within an integer/)
  refuse('ff80', /within an integer/)
  refuse('7fffffffffff', /integer too large/)
  refuse('0fff', /within an integer/)
  refuse('3fffffffffff', /integer too large/)
  refuse('007fffffffffff', /integer too large/)
})

test('strings that are cut off are refused', () => {
  refuse('00', /before a string/)
  refuse(`00 ${text('n')}`, /before a string/)
  refuse('00 05 6162', /within a string/)
  refuse(`00 ${text('n')} 05 6162`, /within a string/)
  refuse('44', /before a string/)
  refuse('44 ffffffff7f', /integer too large|within a string/)
})

test('Huffman strings with EOS, long padding or padding of zeros are refused', () => {
  refuse('04 84 ffffffff', /Huffman/)
  refuse('04 82 1fff', /Huffman/)
  refuse('04 81 18', /Huffman/)
  refuse('00 81 18 00', /Huffman/)
  // Longer than what the cache of literals takes.
  refuse(`04 c0 ${'1f'.repeat(63)}18`, /Huffman/)
})

test('a failure is for ever', () => {
  const decoder = new HpackDecoder(LIMITS)
  refuse('80', /index 0/, decoder)
  refuse('82', /index 0/, decoder)
})

test('long Huffman strings decode', () => {
  // '0' is five zero bits, so five octets of zeros are eight of them.
  for (const octets of [5, 60, 2000, 2560, 2565, 10_000]) {
    const fields = accept(new HpackDecoder(LIMITS), `04 ${length(octets, true)} ${'00'.repeat(octets)}`)
    assert.deepEqual(fields, [':path', '0'.repeat((octets * 8) / 5)])
  }
})

test('a literal reads the same each time, in every representation', () => {
  const decoder = new HpackDecoder(LIMITS)
  const plain = `00 ${text('x-name')} ${text('some value')}`
  const indexed = `40 ${text('x-name')} ${text('some value')}`
  const huffman = '00 88 25a849e95ba97d7f 89 25a849e95bb8e8b4bf'
  const never = `10 ${text('x-name')} ${text('some value')}`
  for (const block of [plain, huffman, plain, huffman, indexed, 'be', never, plain]) {
    const fields = accept(decoder, block)
    assert.deepEqual(fields, block === huffman ? ['custom-key', 'custom-value'] : ['x-name', 'some value'])
  }
})

test('a table size update is accepted at the start of a block, several too', () => {
  const decoder = new HpackDecoder(LIMITS)
  accept(decoder, `40 ${text('n')} ${text('v')}`)
  assert.equal(decoder.tableSize, 34)
  assert.deepEqual(accept(decoder, '20 3fe11f 82'), [':method', 'GET'])
  assert.equal(decoder.tableSize, 0)
  assert.deepEqual(accept(decoder, '20'), [])
})

test('a table size update behind a field is refused', () => {
  refuse('82 20', /update after a field/)
  refuse('20 82 3f00', /update after a field/)
})

test('a table size update above the advertised maximum is refused', () => {
  accept(new HpackDecoder(LIMITS), '3fe11f')
  refuse('3fe21f', /4097 where 4096/)
  const larger = new HpackDecoder({ ...LIMITS, maxTableSize: 8192 })
  accept(larger, '3fe13f')
  refuse('3fe23f', /8193 where 8192/, larger)
})

test('an advertised size above 4096 is in use only once the peer says so', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxTableSize: 8192 })
  const entry = (name: string): string => `40 ${text(name)} ${text('v'.repeat(2096))}`
  accept(decoder, entry('a') + entry('b'))
  assert.equal(decoder.tableSize, 2129)
  accept(decoder, `3fe13f ${entry('c')}`)
  assert.equal(decoder.tableSize, 2 * 2129)
})

test('a lowered setting obliges the peer to an update at the next block', () => {
  const decoder = new HpackDecoder(LIMITS)
  accept(decoder, `40 ${text('n')} ${text('v')}`)
  decoder.setMaxTableSize(100)
  refuse('82', /no table size update to 100 or less/, decoder)

  const late = new HpackDecoder(LIMITS)
  late.setMaxTableSize(0)
  refuse('', /no table size update to 0/, late)

  const obedient = new HpackDecoder(LIMITS)
  accept(obedient, `40 ${text('n')} ${text('v')}`)
  obedient.setMaxTableSize(33)
  assert.deepEqual(accept(obedient, '3f02 82'), [':method', 'GET'])
  assert.equal(obedient.tableSize, 0)
  accept(obedient, '82')
})

test('an advertised size below 4096 is due from the first block', () => {
  refuse('82', /no table size update/, new HpackDecoder({ ...LIMITS, maxTableSize: 0 }))
  accept(new HpackDecoder({ ...LIMITS, maxTableSize: 0 }), '20 82')
})

test('the smallest size in between must be signalled before the last one', () => {
  const lowAndUp = (): HpackDecoder => {
    const decoder = new HpackDecoder(LIMITS)
    accept(decoder, `40 ${text('n')} ${text('v')}`)
    decoder.setMaxTableSize(50)
    decoder.setMaxTableSize(10)
    decoder.setMaxTableSize(20)
    decoder.setMaxTableSize(4096)
    return decoder
  }
  refuse('3fe11f 82', /4096 where 10 or less was due/, lowAndUp())
  refuse('34 3fe11f 82', /20 where 10 or less was due/, lowAndUp())
  const decoder = lowAndUp()
  accept(decoder, '2a 3fe11f 82')
  assert.equal(decoder.tableSize, 0)
  accept(lowAndUp(), '20 82')
})

test('a raised setting, or a lowered one that is still above the size in use, asks for nothing', () => {
  const decoder = new HpackDecoder(LIMITS)
  decoder.setMaxTableSize(65536)
  accept(decoder, '82')
  accept(decoder, '3fe107')
  decoder.setMaxTableSize(4096)
  accept(decoder, '82')
})

test('CVE-2016-6581: the size of the list is limited while decoding, each field counted with 32 more', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxListSize: 42 * 2 })
  // :method GET counts 7 + 3 + 32.
  assert.equal(accept(decoder, '8282').length, 4)
  const { result, fields } = decode(decoder, '828282')
  assert.equal(result, HPACK_LIST_TOO_LARGE)
  assert.deepEqual(fields, [])
  assert.match(decoder.message, /larger than 84 octets/)
})

test('a reference to a large entry, repeated, costs nothing beyond the limit', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxListSize: 16384, maxFields: 1_000_000 })
  accept(decoder, `40 ${text('bomb')} ${text('a'.repeat(4060))}`)
  assert.equal(decoder.tableSize, 4096)
  const { result, fields } = decode(decoder, 'be'.repeat(60000))
  assert.equal(result, HPACK_LIST_TOO_LARGE)
  assert.deepEqual(fields, [])
})

test('CVE-2026-49975: the number of fields is limited as well', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxFields: 3 })
  assert.equal(accept(decoder, '828282').length, 6)
  const { result, fields } = decode(decoder, '82828282')
  assert.equal(result, HPACK_LIST_TOO_LARGE)
  assert.deepEqual(fields, [])
  assert.match(decoder.message, /longer than 3 fields/)
})

test('the count of fields starts anew with each list, whatever the output already holds', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxFields: 2 })
  const fields = ['a', '1', 'b', '2']
  assert.equal(decoder.decode(bytes('8282'), 0, 2, fields), HPACK_OK)
  assert.equal(fields.length, 8)
})

test('behind a list that was too large the table is still in step', () => {
  const decoder = new HpackDecoder({ ...LIMITS, maxFields: 1 })
  const dropped = `82 82 00 ${text('p')} ${text('1')} 14 ${text('/x')} 40 ${text('n')} ${text('v')} 44 ${text('/y')}`
  assert.equal(decode(decoder, dropped).result, HPACK_LIST_TOO_LARGE)
  assert.deepEqual(accept(decoder, 'be'), [':path', '/y'])
  assert.deepEqual(accept(decoder, 'bf'), ['n', 'v'])
})

test('what is dropped may still be wrong enough to end the connection', () => {
  const over = (): HpackDecoder => new HpackDecoder({ ...LIMITS, maxFields: 0 })
  refuse('82 80', /index 0/, over())
  refuse('82 be', /62/, over())
  refuse(`82 0f2f ${text('v')}`, /62/, over())
  refuse('82 00 05 61', /within a string/, over())
  refuse(`82 00 ${text('n')}`, /before a string/, over())
  refuse('82 20', /update after a field/, over())
  refuse('82 44 81 18', /Huffman/, over())
})

test('a literal larger than the table empties it and is no error', () => {
  const decoder = new HpackDecoder(LIMITS)
  accept(decoder, `40 ${text('n')} ${text('v')}`)
  assert.deepEqual(accept(decoder, `44 ${text('a'.repeat(4060))}`), [':path', 'a'.repeat(4060)])
  assert.equal(decoder.tableSize, 0)
  refuse('be', /62 where the table ends at 61/, decoder)
})

test('the revision is the same as long as the same block means the same', () => {
  const decoder = new HpackDecoder(LIMITS)
  const { revision } = decoder
  accept(decoder, `82 0f2b ${text('v')} 00 ${text('n')} ${text('v')}`)
  assert.equal(decoder.revision, revision)
  accept(decoder, `40 ${text('n')} ${text('v')}`)
  assert.notEqual(decoder.revision, revision)
  const filled = decoder.revision
  accept(decoder, 'be')
  assert.equal(decoder.revision, filled)
  accept(decoder, '20 82')
  assert.notEqual(decoder.revision, filled)
  const emptied = decoder.revision
  accept(decoder, `40 ${text('n')} ${text('v')}`)
  assert.equal(decoder.revision, emptied, 'nothing enters a table of no size')
})

test('there is no revision while an update is due, nor after a failure', () => {
  const decoder = new HpackDecoder(LIMITS)
  decoder.setMaxTableSize(100)
  assert.equal(decoder.revision, UNREPEATABLE)
  accept(decoder, '3f45 82')
  assert.notEqual(decoder.revision, UNREPEATABLE)
  refuse('80', /index 0/, decoder)
  assert.equal(decoder.revision, UNREPEATABLE)
})

test('a block with a field that is never indexed says so', () => {
  const decoder = new HpackDecoder(LIMITS)
  accept(decoder, `82 10 ${text('token')} ${text('secret')}`)
  assert.equal(decoder.hadSecret, true)
  accept(decoder, `82 00 ${text('token')} ${text('open')}`)
  assert.equal(decoder.hadSecret, false)
})
