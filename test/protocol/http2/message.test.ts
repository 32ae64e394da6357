import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type FieldValue, HeaderList } from '../../../src/protocol/header-list.ts'
import { fieldFault, type RequestHead, requestFields } from '../../../src/protocol/http2/message.ts'

const BASE = {
  method: 'GET',
  scheme: 'https',
  authority: 'a.test:8443',
  path: '/p?q=1',
  protocol: null,
  headers: [] as FieldValue[],
}

const PSEUDO = [':method', 'GET', ':scheme', 'https', ':authority', 'a.test:8443', ':path', '/p?q=1']

interface Head extends Omit<RequestHead, 'headers'> {
  headers: FieldValue[]
}

function build(changes: Partial<Head>): unknown {
  const head = { ...BASE, ...changes }
  return requestFields({ ...head, headers: listOf(head.headers) })
}

function listOf(flat: FieldValue[]): HeaderList {
  const list = new HeaderList()
  list.flat.push(...flat)
  return list
}

describe('the fields of a request', () => {
  test('begin with the pseudo fields', () => {
    assert.deepEqual(build({}), PSEUDO)
  })

  test('have lower-case names, one field for each value', () => {
    assert.deepEqual(build({ headers: ['X-Id', '7', 'Cookie', ['a=1', 'b=2'], 'empty', []] }), [
      ...PSEUDO,
      'x-id',
      '7',
      'cookie',
      'a=1',
      'cookie',
      'b=2',
    ])
  })

  test('CONNECT has a method and an authority only, and keeps its target whatever host says', () => {
    const headers = ['host', 'other', 'x', 'y']
    assert.deepEqual(build({ method: 'CONNECT', authority: 'b.test:443', headers }), [
      ':method',
      'CONNECT',
      ':authority',
      'b.test:443',
      'x',
      'y',
    ])
  })

  test('extended CONNECT has all of them and :protocol', () => {
    assert.deepEqual(build({ method: 'CONNECT', protocol: 'websocket' }), [
      ':method',
      'CONNECT',
      ...PSEUDO.slice(2),
      ':protocol',
      'websocket',
    ])
  })

  test('extended CONNECT has no key, which is for the handshake of HTTP/1.1', () => {
    const headers = ['Sec-WebSocket-Key', 'k', 'sec-websocket-version', '13']
    assert.deepEqual(build({ headers }), [...PSEUDO, 'sec-websocket-key', 'k', 'sec-websocket-version', '13'])
    assert.deepEqual(build({ method: 'CONNECT', protocol: 'websocket', headers }), [
      ':method',
      'CONNECT',
      ...PSEUDO.slice(2),
      ':protocol',
      'websocket',
      'sec-websocket-version',
      '13',
    ])
  })

  test("a caller's pseudo fields and connection do not win", () => {
    const headers = [
      ':path',
      '/evil',
      ':Method',
      'x',
      ':authority',
      'x',
      ':scheme',
      'x',
      'Connection',
      'close, x',
    ]
    assert.deepEqual(build({ headers }), PSEUDO)
  })

  test('that a list has for several requests are made once, but for the pseudo fields', () => {
    const headers = listOf(['X-Id', '7'])
    headers.isRepeated = true
    for (const path of ['/1', '/2']) {
      const fields = requestFields({ ...BASE, path, headers })
      assert.deepEqual(fields, [...PSEUDO.with(7, path), 'x-id', '7'])
      // What the caller of requestFields adds belongs to that request alone.
      if (Array.isArray(fields)) fields.push('content-length', '0')
    }
    headers.flat.push('not', 'seen')
    assert.deepEqual(requestFields({ ...BASE, headers }), [...PSEUDO, 'x-id', '7'])
    const handshake = requestFields({ ...BASE, method: 'CONNECT', protocol: 'websocket', headers })
    assert.ok(Array.isArray(handshake) && handshake.includes('not'))
  })

  test('te may say trailers and nothing else', () => {
    assert.deepEqual(build({ headers: ['TE', 'Trailers'] }), [...PSEUDO, 'te', 'Trailers'])
    for (const value of ['gzip', 'trailers, gzip', '', ['trailers']]) {
      assert.deepEqual(build({ headers: ['te', value] }), {
        scope: 'stream',
        blame: 'caller',
        code: 'ERR_HTTP2_INVALID_CONNECTION_HEADERS',
        message: 'HTTP/1 Connection specific headers are forbidden: "te"',
      })
    }
  })

  test('a field with one value must not come again in other letters; the same letters are a list', () => {
    for (const name of ['user-agent', 'content-type', 'authorization', 'from', 'if-match']) {
      const other = name.toUpperCase()
      assert.deepEqual(build({ headers: [other, 'x', 'a', 'b', name, 'x'] }), {
        scope: 'stream',
        blame: 'caller',
        code: 'ERR_HTTP2_HEADER_SINGLE_VALUE',
        message: `Header field "${name}" must only have a single value`,
      })
      assert.deepEqual(build({ headers: [name, 'x', name, 'y'] }), [...PSEUDO, name, 'x', name, 'y'])
    }
    assert.deepEqual(build({ headers: ['Accept', 'x', 'accept', 'y'] }), [
      ...PSEUDO,
      'accept',
      'x',
      'accept',
      'y',
    ])
  })

  test('connection-specific fields fail the request', () => {
    for (const name of ['Keep-Alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings']) {
      assert.deepEqual(build({ headers: ['a', 'b', name, 'x'] }), {
        scope: 'stream',
        blame: 'caller',
        code: 'ERR_HTTP2_INVALID_CONNECTION_HEADERS',
        message: `HTTP/1 Connection specific headers are forbidden: "${name.toLowerCase()}"`,
      })
    }
  })
})

test('more distinct field names than are remembered are judged all the same', () => {
  for (let i = 0; i < 1100; i++) assert.equal(fieldFault([`x-name-${i}`, 'v'], 0), null)
  assert.equal(fieldFault(['x-name-1099', 'v'], 0), null)
  assert.notEqual(fieldFault(['X-name-1099', 'v'], 0), null)
})
