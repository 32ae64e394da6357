import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { HeaderList } from '../../../src/protocol/header-list.ts'
import {
  CHUNKED_TAIL,
  contentLengthTail,
  encodeRequestHead,
  NO_BODY_TAIL,
  type RequestHead,
} from '../../../src/protocol/http1/request-encoder.ts'

function list(...pairs: [string, string | string[]][]): HeaderList {
  const result = new HeaderList()
  for (const [name, value] of pairs) assert.ok(result.append(name, value))
  return result
}

const GET: RequestHead = {
  method: 'GET',
  target: '/a?b=c',
  host: 'example.test:8080',
  connection: 'keep-alive',
  upgrade: null,
  fields: new HeaderList(),
  contentType: null,
  trailer: null,
}

describe('encodeRequestHead', () => {
  it('writes request line, host and connection, and nothing else of its own', () => {
    assert.equal(
      encodeRequestHead(GET),
      'GET /a?b=c HTTP/1.1\r\nhost: example.test:8080\r\nconnection: keep-alive\r\n',
    )
  })

  it('keeps the order, case and repetition of the fields; content type comes last', () => {
    const fields = list(
      ['X-B', '1'],
      ['x-a', ['2', '', '3']],
      ['Empty', ''],
      ['x-none', []],
      ['x-latin', '\xe9'],
    )
    assert.equal(
      encodeRequestHead({ ...GET, method: 'POST', connection: 'close', fields, contentType: 'a/b' }),
      'POST /a?b=c HTTP/1.1\r\nhost: example.test:8080\r\nconnection: close\r\n' +
        'X-B: 1\r\nx-a: 2\r\nx-a: \r\nx-a: 3\r\nEmpty: \r\nx-latin: \xe9\r\ncontent-type: a/b\r\n',
    )
  })

  it('writes a list that several requests send as one that is sent once, also to another host', () => {
    const fields = list(['X-B', '1'], ['x-a', ['2', '3']])
    const heads = (['a.test', 'a.test', 'b.test', 'a.test'] as const).map((host) => ({
      ...GET,
      host,
      fields,
    }))
    const once = heads.map(encodeRequestHead)
    fields.isRepeated = true
    assert.deepEqual(heads.map(encodeRequestHead), once)
    assert.deepEqual(heads.map(encodeRequestHead), once)
    assert.throws(() => fields.append('c', 'd'), InternalError)
  })

  it('names the protocol of an upgrade behind connection', () => {
    assert.equal(
      encodeRequestHead({ ...GET, connection: 'upgrade', upgrade: 'Websocket', fields: list(['a', 'b']) }),
      'GET /a?b=c HTTP/1.1\r\nhost: example.test:8080\r\nconnection: upgrade\r\nupgrade: Websocket\r\na: b\r\n',
    )
  })

  it('names the trailers after the content type', () => {
    assert.equal(
      encodeRequestHead({ ...GET, contentType: 'a/b', trailer: 'x-sum' }),
      'GET /a?b=c HTTP/1.1\r\nhost: example.test:8080\r\nconnection: keep-alive\r\ncontent-type: a/b\r\ntrailer: x-sum\r\n',
    )
  })

  it('sends an empty host and any target without spaces', () => {
    assert.equal(
      encodeRequestHead({ ...GET, method: 'CONNECT', target: 'h:443', host: '' }),
      'CONNECT h:443 HTTP/1.1\r\nhost: \r\nconnection: keep-alive\r\n',
    )
  })

  const broken: Record<string, Partial<RequestHead>> = {
    'a method with a space': { method: 'GET /' },
    'an empty method': { method: '' },
    'CVE-2022-31150: a line break in the method': { method: 'GET\r\nx' },
    'CVE-2022-31150: a line break in the target': { target: '/\r\nx: y' },
    'a space in the target': { target: '/ HTTP/1.1' },
    'an empty target': { target: '' },
    'a target beyond latin1': { target: '/\u0160' },
    'CVE-2023-23936: a line break in the host': { host: 'a\r\nx: y' },
    'CVE-2022-35948: a line break in the content type': { contentType: 'a/b\r\nx: y' },
    'a content type beyond latin1, whose low byte is a line break': { contentType: 'a\u010ab' },
    'CVE-2026-1527: a line break in the upgrade': { connection: 'upgrade', upgrade: 'x\r\ny: z' },
    'an empty upgrade': { connection: 'upgrade', upgrade: '' },
    'an upgrade without its connection option': { upgrade: 'x' },
    'the connection option without an upgrade': { connection: 'upgrade' },
  }
  for (const [what, change] of Object.entries(broken)) {
    it(`refuses ${what}`, () => {
      assert.throws(() => encodeRequestHead({ ...GET, ...change }), InternalError)
    })
  }
})

describe('tails', () => {
  it('complete a head', () => {
    assert.equal(contentLengthTail(0), 'content-length: 0\r\n\r\n')
    assert.equal(contentLengthTail(5_368_709_120), 'content-length: 5368709120\r\n\r\n')
    assert.equal(CHUNKED_TAIL, 'transfer-encoding: chunked\r\n\r\n')
    assert.equal(NO_BODY_TAIL, '\r\n')
  })

  it('refuse lengths that are none', () => {
    for (const length of [-1, 1.5, Number.NaN, 1e21])
      assert.throws(() => contentLengthTail(length), InternalError)
  })
})
