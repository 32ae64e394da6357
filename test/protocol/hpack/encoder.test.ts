import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { HPACK_OK, HpackDecoder } from '../../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../../src/protocol/hpack/encoder.ts'

const REQUEST = [
  ...[':method', 'GET', ':scheme', 'https', ':authority', 'api.example.com', ':path', '/v1/items'],
  ...['user-agent', 'ventuno', 'accept', 'application/json', 'x-version', '7'],
]

function encode(encoder: HpackEncoder, fields: readonly string[]): Buffer {
  const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
  return out.subarray(0, encoder.encode(fields, out, 0))
}

function newDecoder(maxTableSize = 4096): HpackDecoder {
  return new HpackDecoder({ maxTableSize, maxListSize: 1 << 20, maxFields: 10_000 })
}

/** An encoder and the decoder at the other end, which must understand every block. */
class Pair {
  readonly encoder: HpackEncoder
  readonly decoder: HpackDecoder

  constructor(maxTableSize = 4096) {
    this.encoder = new HpackEncoder({ maxTableSize })
    this.decoder = newDecoder(maxTableSize)
  }

  send(fields: readonly string[]): Buffer {
    const wire = encode(this.encoder, fields)
    const out: string[] = []
    assert.equal(this.decoder.decode(wire, 0, wire.length, out), HPACK_OK, this.decoder.message)
    assert.deepEqual(out, fields)
    assert.equal(this.encoder.tableSize, this.decoder.tableSize)
    return wire
  }
}

test('static fields are one octet each', () => {
  const fields = [':method', 'POST', ':scheme', 'https', ':path', '/', 'accept-encoding', 'gzip, deflate']
  assert.equal(encode(new HpackEncoder(), fields).toString('hex'), '83878490')
  assert.equal(encode(new HpackEncoder(), ['accept', '']).toString('hex'), '93')
})

test('RFC 7541 C.4: the same octets as in the example', () => {
  const pair = new Pair()
  const first = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com']
  assert.equal(pair.send(first).toString('hex'), '828684418cf1e3c2e5f23a6ba0ab90f4ff')
  const second = [...first, 'cache-control', 'no-cache']
  assert.equal(pair.send(second).toString('hex'), '828684be5886a8eb10649cbf')
})

test('a list that was sent twice is sent as indices only', () => {
  const pair = new Pair()
  pair.send(REQUEST)
  pair.send(REQUEST)
  assert.equal(pair.send(REQUEST).length, REQUEST.length / 2)
  // In any order, and made of other string objects.
  const shuffled = [...REQUEST.slice(4), ...REQUEST.slice(0, 4)].map((part) => `${part}-`.slice(0, -1))
  assert.equal(pair.send(shuffled).length, REQUEST.length / 2)
})

test('a few paths in turn end up as indices, each path sent once is not put into the table', () => {
  const pair = new Pair()
  const list = (path: string): string[] => [':method', 'GET', ':path', path]
  for (let i = 0; i < 200; i++) pair.send(list(`/unique/${i}`))
  assert.equal(pair.encoder.tableSize, 0)
  for (let round = 0; round < 2; round++) for (let i = 0; i < 5; i++) pair.send(list(`/poll/${i}`))
  for (let i = 0; i < 5; i++) assert.equal(pair.send(list(`/poll/${i}`)).length, 2)
})

test('long values stay out of the table', () => {
  const pair = new Pair()
  for (let i = 0; i < 3; i++) {
    pair.send([':path', `/${'a'.repeat(1200)}`, 'x-long', 'b'.repeat(1200)])
    assert.equal(pair.encoder.tableSize, 0)
  }
})

test('lengths, dates and validators are never put into the table', () => {
  const pair = new Pair()
  const fields = ['content-length', '42', 'date', 'Mon, 21 Oct 2013 20:13:21 GMT', 'etag', '"x"', 'age', '3']
  for (let i = 0; i < 3; i++) pair.send(fields)
  assert.equal(pair.encoder.tableSize, 0)
})

test('a name whose values do not repeat stops being indexed until one does', () => {
  const pair = new Pair()
  for (let i = 0; i < 100; i++) pair.send(['x-request-id', `id-${i}`])
  const size = pair.encoder.tableSize
  assert.ok(size < 5 * 64, `${size}`)
  pair.send(['x-request-id', 'stable'])
  pair.send(['x-request-id', 'stable'])
  assert.equal(pair.send(['x-request-id', 'stable']).length, 1)
  // Used again out of its place in the list: the name has earned its index back.
  pair.send(['accept', '*/*', 'x-request-id', 'stable'])
  pair.send(['x-request-id', 'other'])
  assert.equal(pair.send(['x-request-id', 'other']).length, 1)
})

test('credentials are never indexed and keep the mark, repeated or not', () => {
  const pair = new Pair()
  for (const name of ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']) {
    for (const value of ['one', 'secret', 'secret', 'secret', 'other', 'secret', '', 's'.repeat(2000)]) {
      assert.equal(pair.send([name, value])[0]! & 0xf0, 0x10)
    }
  }
  assert.equal(pair.encoder.tableSize, 0)
})

test('a repeated secret is written whole in a buffer that has room, and refused in one that has not', () => {
  const encoder = new HpackEncoder()
  const fields = ['authorization', 'Bearer 0123456789']
  const first = encode(encoder, fields)
  const second = encode(encoder, fields)
  assert.ok(second.length < first.length, 'worth a code once it repeats')
  assert.deepEqual(encode(encoder, fields), second)
  assert.throws(() => encoder.encode(fields, Buffer.alloc(8), 0), InternalError)
})

test('Huffman coding is used only where it is shorter', () => {
  const pair = new Pair()
  assert.equal(pair.send(['server', '<<<<']).toString('hex'), '76043c3c3c3c')
  assert.equal(pair.send(['etag', '']).toString('hex'), 'a2')
  assert.equal(pair.send(['server', '&&&']).toString('hex'), '7603262626')
  assert.equal(pair.send(['server', 'aaaa']).toString('hex'), '7683' + '18c63f')
})

test('a value that does not enter the table is sent without Huffman coding', () => {
  const pair = new Pair()
  assert.equal(pair.send(['etag', 'aaaa']).toString('hex'), '0f130461616161')
})

test('every octet goes through', () => {
  const pair = new Pair()
  const all = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet)).join('')
  pair.send(['x-all', all, 'x-high', '\u00fc\u00ff'])
  pair.send(['x-all', all, 'x-high', '\u00fc\u00ff'])
})

test('an empty name is a literal, not the placeholder of the static table', () => {
  const pair = new Pair()
  for (let i = 0; i < 3; i++) pair.send(['', '', '', 'v'])
})

test('evicted entries are forgotten', () => {
  const pair = new Pair(128)
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 20; i++) pair.send([`n${i}`, 'v', `m${i % 3}`, '', 'accept', 'text/html'])
  }
  assert.ok(pair.encoder.tableSize <= 128)
})

test('an index from the memory of positions is not used once its entry is gone', () => {
  const pair = new Pair(160)
  pair.send(['a', '1'])
  for (let i = 0; i < 4; i++) pair.send(['accept', '*/*', `n${i}`, 'v'])
  pair.send(['a', '1'])
})

test('lists longer than the memory of positions', () => {
  const pair = new Pair()
  const fields = Array.from({ length: 50 }, (_, i) => [`name-${i}`, 'v']).flat()
  pair.send(fields)
  assert.equal(pair.send(fields).length, 50)
  assert.equal(pair.send(fields).length, 50)
})

test('many names do not pile up', () => {
  const pair = new Pair()
  for (let i = 0; i < 2000; i++) pair.send([`x-${i}`, 'v'])
  assert.equal(pair.send(['x-1999', 'v']).length, 1)
})

test('a smaller table of the peer is announced at the next block, once', () => {
  const pair = new Pair()
  pair.send(REQUEST)
  pair.encoder.setMaxTableSize(100)
  pair.decoder.setMaxTableSize(100)
  assert.equal(pair.send([':method', 'GET']).toString('hex'), '3f4582')
  assert.equal(pair.send([':method', 'GET']).toString('hex'), '82')
  assert.ok(pair.encoder.tableSize <= 100)
})

test('a size that went down and up is announced with the smallest and the last', () => {
  const pair = new Pair()
  pair.send(REQUEST)
  for (const size of [200, 10, 20, 4096]) {
    pair.encoder.setMaxTableSize(size)
    pair.decoder.setMaxTableSize(size)
  }
  assert.equal(pair.send([':method', 'GET']).toString('hex'), '2a3fe11f82')
  assert.equal(pair.encoder.tableSize, 0)
  pair.send(REQUEST)
})

test('a larger table of the peer is used up to our own ceiling', () => {
  const own = new Pair()
  own.encoder.setMaxTableSize(65536)
  assert.equal(own.send([':method', 'GET']).toString('hex'), '82')

  const larger = new Pair(16384)
  larger.encoder.setMaxTableSize(65536)
  assert.equal(larger.send([':method', 'GET']).toString('hex'), '3fe17f82')
})

test('a reduction is answered even where our own table is smaller', () => {
  const pair = new Pair()
  pair.encoder.setMaxTableSize(65536)
  pair.encoder.setMaxTableSize(8192)
  assert.equal(pair.send([':method', 'GET']).toString('hex'), '3fe11f82')
})

test('a ceiling below 4096 is announced with the first block', () => {
  const pair = new Pair(0)
  assert.equal(pair.send([':method', 'GET']).toString('hex'), '2082')
  pair.send(['a', 'b'])
  assert.equal(pair.encoder.tableSize, 0)
})

test('a character outside latin1 is our own mistake, and the encoder is not used again', () => {
  const encoder = new HpackEncoder()
  assert.throws(() => encode(encoder, ['a', '\u010a']), InternalError)
  assert.throws(() => encode(encoder, ['a', 'b']), InternalError)
  assert.throws(() => encode(new HpackEncoder(), ['\u010a', 'b']), InternalError)
})

test('a buffer without room is our own mistake', () => {
  assert.throws(() => new HpackEncoder().encode(REQUEST, Buffer.alloc(10), 0), InternalError)
})

test('the block is written at the offset, and an empty list is an empty block', () => {
  const out = Buffer.alloc(32, 0xaa)
  assert.equal(new HpackEncoder().encode([':method', 'GET'], out, 9), 10)
  assert.equal(out.toString('hex', 8, 11), 'aa82aa')
  assert.equal(new HpackEncoder().encode([], out, 9), 9)
})
