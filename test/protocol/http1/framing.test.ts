/** RFC 9112 §6.3 as a table: every kind of request against every kind of head. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  BODY_UNTIL_CLOSE,
  CHUNKED_BODY,
  CONNECT_REQUEST,
  COUNTED_BODY,
  type Framing,
  FramingFields,
  HEAD_REQUEST,
  INTERIM,
  keepsAlive,
  NO_BODY,
  PLAIN_REQUEST,
  type RequestKind,
  requestKind,
  responseFraming,
  TUNNEL,
  UNWANTED_UPGRADE,
  UPGRADE_REQUEST,
} from '../../../src/protocol/http1/framing.ts'

function fields(given: Readonly<Record<string, string>>): FramingFields {
  const result = new FramingFields()
  for (const [name, value] of Object.entries(given)) {
    const bytes = Buffer.from(value, 'latin1')
    assert.equal(result.add(name, bytes, 0, bytes.length), null)
  }
  return result
}

const NONE = {}
const COUNTED = { 'content-length': '5' }
const ZERO = { 'content-length': '0' }
const CHUNKED = { 'transfer-encoding': 'chunked' }
const GZIP = { 'transfer-encoding': 'gzip' }
const SWITCH = { connection: 'upgrade', upgrade: 'x' }

type Row = [status: number, given: Record<string, string>, expected: [Framing, Framing, Framing, Framing]]

const KINDS: RequestKind[] = [PLAIN_REQUEST, HEAD_REQUEST, CONNECT_REQUEST, UPGRADE_REQUEST]

const ROWS: Row[] = [
  // plain, HEAD, CONNECT, upgrade
  [200, NONE, [BODY_UNTIL_CLOSE, NO_BODY, TUNNEL, BODY_UNTIL_CLOSE]],
  [200, COUNTED, [COUNTED_BODY, NO_BODY, TUNNEL, COUNTED_BODY]],
  [200, ZERO, [NO_BODY, NO_BODY, TUNNEL, NO_BODY]],
  [200, CHUNKED, [CHUNKED_BODY, NO_BODY, TUNNEL, CHUNKED_BODY]],
  [200, GZIP, [BODY_UNTIL_CLOSE, NO_BODY, TUNNEL, BODY_UNTIL_CLOSE]],
  [200, SWITCH, [BODY_UNTIL_CLOSE, NO_BODY, TUNNEL, BODY_UNTIL_CLOSE]],
  [204, NONE, [NO_BODY, NO_BODY, TUNNEL, NO_BODY]],
  [204, COUNTED, [NO_BODY, NO_BODY, TUNNEL, NO_BODY]],
  [204, CHUNKED, [NO_BODY, NO_BODY, TUNNEL, NO_BODY]],
  [304, COUNTED, [NO_BODY, NO_BODY, TUNNEL, NO_BODY]],
  [407, COUNTED, [COUNTED_BODY, NO_BODY, TUNNEL, COUNTED_BODY]],
  [100, NONE, [INTERIM, INTERIM, INTERIM, INTERIM]],
  [101, NONE, [UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE]],
  [101, SWITCH, [UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE, TUNNEL]],
  [101, { upgrade: 'x' }, [UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE]],
  [
    101,
    { connection: 'upgrade', upgrade: '' },
    [UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE, UNWANTED_UPGRADE],
  ],
  [103, NONE, [INTERIM, INTERIM, INTERIM, INTERIM]],
  [103, ZERO, [INTERIM, INTERIM, INTERIM, INTERIM]],
  [103, COUNTED, [INTERIM, INTERIM, INTERIM, INTERIM]],
  [103, GZIP, [INTERIM, INTERIM, INTERIM, INTERIM]],
]

describe('responseFraming', () => {
  for (const [status, given, expected] of ROWS) {
    it(`${status} ${JSON.stringify(given)}`, () => {
      assert.deepEqual(
        KINDS.map((kind) => responseFraming(kind, status, fields(given))),
        expected,
      )
    })
  }
})

describe('requestKind', () => {
  it('knows the methods that change what a response means, by exact case', () => {
    assert.equal(requestKind('GET', false), PLAIN_REQUEST)
    assert.equal(requestKind('HEAD', false), HEAD_REQUEST)
    assert.equal(requestKind('head', false), PLAIN_REQUEST)
    assert.equal(requestKind('CONNECT', false), CONNECT_REQUEST)
    assert.equal(requestKind('CONNECT', true), CONNECT_REQUEST)
    assert.equal(requestKind('GET', true), UPGRADE_REQUEST)
  })
})

describe('keepsAlive', () => {
  it('follows version, connection options and framing', () => {
    const keep = { connection: 'keep-alive' }
    assert.equal(keepsAlive(11, NO_BODY, fields(NONE)), true)
    assert.equal(keepsAlive(11, NO_BODY, fields({ connection: 'close' })), false)
    assert.equal(keepsAlive(11, BODY_UNTIL_CLOSE, fields(keep)), false)
    assert.equal(keepsAlive(10, NO_BODY, fields(NONE)), false)
    assert.equal(keepsAlive(10, NO_BODY, fields(keep)), true)
    assert.equal(keepsAlive(10, CHUNKED_BODY, fields({ ...keep, ...CHUNKED })), false)
    const twice = { 'transfer-encoding': 'chunked, chunked' }
    assert.equal(keepsAlive(11, CHUNKED_BODY, fields(CHUNKED)), true)
    assert.equal(keepsAlive(11, CHUNKED_BODY, fields({ ...keep, ...twice })), false)
  })
})

describe('FramingFields', () => {
  it('ignores names that only share a length', () => {
    const result = fields({
      'x-field': 'a',
      'x-ten-long': 'close',
      'x-fourteen-lon': 'z',
      'x-seventeen-long-': 'chunked',
    })
    assert.equal(result.upgrade, false)
    assert.equal(result.connectionClose, false)
    assert.equal(result.contentLength, -1)
    assert.equal(result.hasTransferEncoding, false)
  })
})
