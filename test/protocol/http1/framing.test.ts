/** RFC 9112 §6.3 as a table: every kind of request against every kind of head. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Framing,
  FramingFields,
  keepsAlive,
  type RequestKind,
  requestKind,
  responseFraming,
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

const KINDS: RequestKind[] = ['plain', 'head', 'connect', 'upgrade']

const ROWS: Row[] = [
  // plain, HEAD, CONNECT, upgrade
  [200, NONE, ['until-close', 'none', 'tunnel', 'until-close']],
  [200, COUNTED, ['counted', 'none', 'tunnel', 'counted']],
  [200, ZERO, ['none', 'none', 'tunnel', 'none']],
  [200, CHUNKED, ['chunked', 'none', 'tunnel', 'chunked']],
  [200, GZIP, ['until-close', 'none', 'tunnel', 'until-close']],
  [200, SWITCH, ['until-close', 'none', 'tunnel', 'until-close']],
  [204, NONE, ['none', 'none', 'tunnel', 'none']],
  [204, COUNTED, ['none', 'none', 'tunnel', 'none']],
  [204, CHUNKED, ['none', 'none', 'tunnel', 'none']],
  [304, COUNTED, ['none', 'none', 'tunnel', 'none']],
  [407, COUNTED, ['counted', 'none', 'tunnel', 'counted']],
  [100, NONE, ['interim', 'interim', 'interim', 'interim']],
  [101, NONE, ['unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade']],
  [101, SWITCH, ['unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade', 'tunnel']],
  [101, { upgrade: 'x' }, ['unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade']],
  [
    101,
    { connection: 'upgrade', upgrade: '' },
    ['unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade', 'unwanted-upgrade'],
  ],
  [103, NONE, ['interim', 'interim', 'interim', 'interim']],
  [103, ZERO, ['interim', 'interim', 'interim', 'interim']],
  [103, COUNTED, ['interim', 'interim', 'interim', 'interim']],
  [103, GZIP, ['interim', 'interim', 'interim', 'interim']],
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
    assert.equal(requestKind('GET', false), 'plain')
    assert.equal(requestKind('HEAD', false), 'head')
    assert.equal(requestKind('head', false), 'plain')
    assert.equal(requestKind('CONNECT', false), 'connect')
    assert.equal(requestKind('CONNECT', true), 'connect')
    assert.equal(requestKind('GET', true), 'upgrade')
  })
})

describe('keepsAlive', () => {
  it('follows version, connection options and framing', () => {
    const keep = { connection: 'keep-alive' }
    assert.equal(keepsAlive(11, 'none', fields(NONE)), true)
    assert.equal(keepsAlive(11, 'none', fields({ connection: 'close' })), false)
    assert.equal(keepsAlive(11, 'until-close', fields(keep)), false)
    assert.equal(keepsAlive(10, 'none', fields(NONE)), false)
    assert.equal(keepsAlive(10, 'none', fields(keep)), true)
    assert.equal(keepsAlive(10, 'chunked', fields({ ...keep, ...CHUNKED })), false)
    const twice = { 'transfer-encoding': 'chunked, chunked' }
    assert.equal(keepsAlive(11, 'chunked', fields(CHUNKED)), true)
    assert.equal(keepsAlive(11, 'chunked', fields({ ...keep, ...twice })), false)
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
