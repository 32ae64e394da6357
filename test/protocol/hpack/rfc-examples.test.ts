/** The examples of RFC 7541 Appendix C.2 to C.6: wire octets, fields, and the table size after each block. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HPACK_OK, HpackDecoder } from '../../../src/protocol/hpack/decoder.ts'

interface Block {
  readonly wire: string
  readonly fields: readonly string[]
  readonly tableSize: number
}

const REQUESTS = [
  [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'],
  [
    ...[':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'],
    ...['cache-control', 'no-cache'],
  ],
  [
    ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html', ':authority', 'www.example.com'],
    ...['custom-key', 'custom-value'],
  ],
] as const

const RESPONSES = [
  [
    ...[':status', '302', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ...['location', 'https://www.example.com'],
  ],
  [
    ...[':status', '307', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ...['location', 'https://www.example.com'],
  ],
  [
    ...[':status', '200', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
    ...['location', 'https://www.example.com', 'content-encoding', 'gzip'],
    ...['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
] as const

function check(tableSize: number, blocks: readonly Block[]): void {
  const decoder = new HpackDecoder({
    maxTableSize: tableSize,
    initialTableSize: tableSize,
    maxListSize: 65536,
    maxFields: 100,
  })
  for (const block of blocks) {
    const wire = Buffer.from(block.wire.replaceAll(' ', ''), 'hex')
    const out: string[] = []
    assert.equal(decoder.decode(wire, 0, wire.length, out), HPACK_OK, decoder.message)
    assert.deepEqual(out, block.fields)
    assert.equal(decoder.tableSize, block.tableSize)
  }
}

test('C.2.1 literal with indexing', () => {
  const wire = '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'
  check(4096, [{ wire, fields: ['custom-key', 'custom-header'], tableSize: 55 }])
})

test('C.2.2 literal without indexing', () => {
  const wire = '040c 2f73 616d 706c 652f 7061 7468'
  check(4096, [{ wire, fields: [':path', '/sample/path'], tableSize: 0 }])
})

test('C.2.3 literal never indexed', () => {
  const wire = '1008 7061 7373 776f 7264 0673 6563 7265 74'
  check(4096, [{ wire, fields: ['password', 'secret'], tableSize: 0 }])
})

test('C.2.4 indexed', () => {
  check(4096, [{ wire: '82', fields: [':method', 'GET'], tableSize: 0 }])
})

test('C.3 requests without Huffman coding', () => {
  check(4096, [
    {
      wire: '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      fields: REQUESTS[0],
      tableSize: 57,
    },
    { wire: '8286 84be 5808 6e6f 2d63 6163 6865', fields: REQUESTS[1], tableSize: 110 },
    {
      wire: '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      fields: REQUESTS[2],
      tableSize: 164,
    },
  ])
})

test('C.4 requests with Huffman coding', () => {
  check(4096, [
    { wire: '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', fields: REQUESTS[0], tableSize: 57 },
    { wire: '8286 84be 5886 a8eb 1064 9cbf', fields: REQUESTS[1], tableSize: 110 },
    {
      wire: '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      fields: REQUESTS[2],
      tableSize: 164,
    },
  ])
})

test('C.5 responses without Huffman coding, with a table of 256 that evicts', () => {
  check(256, [
    {
      wire:
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133' +
        '3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      fields: RESPONSES[0],
      tableSize: 222,
    },
    { wire: '4803 3330 37c1 c0bf', fields: RESPONSES[1], tableSize: 222 },
    {
      wire:
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a' +
        '6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d' +
        '6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      fields: RESPONSES[2],
      tableSize: 215,
    },
  ])
})

test('C.6 responses with Huffman coding, with a table of 256 that evicts', () => {
  check(256, [
    {
      wire:
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d' +
        '29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      fields: RESPONSES[0],
      tableSize: 222,
    },
    { wire: '4883 640e ffc1 c0bf', fields: RESPONSES[1], tableSize: 222 },
    {
      wire:
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d' +
        'd7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106' +
        '3d50 07',
      fields: RESPONSES[2],
      tableSize: 215,
    },
  ])
})
