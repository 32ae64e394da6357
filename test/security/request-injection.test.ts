/** No external input that a caller passes on can add a line, a field or a request to the output. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, type TestContext, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  type DispatchOptions,
  errors,
  FormData,
  fetch,
  H2CClient,
  type HeadersInput,
  Pool,
  RoundRobinPool,
  request,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { startH2Server } from '../support/h2-server.ts'
import { OK } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { disguised, LINE_BREAKS, turncoat } from './hostile-text.ts'

type Attack = (client: Client) => Promise<unknown>

/** Sends honest requests after the attacks, and returns everything that the server has seen, as text. */
type Watch = (t: TestContext) => Promise<{ client: Client; seen(): Promise<string> }>

const overHttp1: Watch = async (t) => {
  const server = await startScriptedServer(t)
  const client = new Client(server.url)
  t.after(() => client.destroy())
  return {
    client,
    seen: async () => {
      const honest = client.request({ path: '/honest', method: 'GET' })
      const connection = await server.accept()
      const text = await connection.head()
      connection.send(OK)
      await (await honest).body.text()
      assert.equal(server.count, 1)
      return text.replace(/127\.0\.0\.1:\d+/, 'origin')
    },
  }
}

const overHttp2: Watch = async (t) => {
  const server = await startH2Server(t)
  const client = new H2CClient(server.url)
  t.after(() => client.destroy())
  return {
    client,
    seen: async () => {
      const honest = client.request({ path: '/honest', method: 'GET' })
      const peer = await server.accept()
      peer.respond((await peer.request()).id)
      await (await honest).body.text()
      assert.equal(server.count, 1)
      return peer.requests
        .map(({ fields }) => fields.join(' '))
        .join('\n')
        .replace(/localhost:\d+/, 'origin')
    },
  }
}

const WIRES: readonly (readonly [name: string, watch: Watch, honest: string])[] = [
  ['h1', overHttp1, 'GET /honest HTTP/1.1\r\nhost: origin\r\nconnection: keep-alive\r\n\r\n'],
  ['h2', overHttp2, ':method GET :scheme http :authority origin :path /honest'],
]

/** Every attack is refused with an argument error before anything is opened, and the honest request is untouched. */
function refuses(title: string, attacks: () => Iterable<Attack>): void {
  for (const [name, watch, honest] of WIRES) {
    test(`${title}, over ${name}`, async (t) => {
      const { client, seen } = await watch(t)
      let count = 0
      for (const attack of attacks()) {
        await assert.rejects(
          () => attack(client),
          (error) => error instanceof errors.InvalidArgumentError,
          `attack ${count}`,
        )
        count++
      }
      assert.ok(count > 0)
      assert.equal(await seen(), honest)
    })
  }
}

const ask = (client: Client, options: object): Promise<unknown> =>
  client.request({ path: '/', method: 'GET', ...options } as unknown as DispatchOptions)

const withHeaders =
  (headers: unknown): Attack =>
  (client) =>
    ask(client, { headers: headers as HeadersInput })

describe('CVE-2022-31150: CRLF in header names, values, path or method', () => {
  refuses('method', function* () {
    for (const text of [...LINE_BREAKS, ' / HTTP/1.1\r\n', ' ', '']) {
      yield (client) => ask(client, { method: text === '' ? '' : `GET${text}` })
    }
  })

  refuses('path', function* () {
    // DEL ends nothing, and is allowed in a request target.
    const breaks = LINE_BREAKS.filter((text) => text !== '\x7f')
    for (const text of [...breaks, ' HTTP/1.1\r\nx: y', ' ', '\t', '\u2028']) {
      yield (client) => ask(client, { path: `/a${text}` })
      yield (client) => ask(client, { path: `http://a.test/${text}` })
      yield (client) => client.stream({ path: `/a${text}`, method: 'GET' }, () => assert.fail())
      yield (client) => client.connect({ path: `a.test:443${text}` })
    }
  })

  const name = (text: string): string => `x-a${text}`
  const SHAPES: readonly (readonly [string, (name: string, value: unknown) => unknown])[] = [
    ['an object', (name, value) => ({ [name]: value })],
    ['an object without prototype', (name, value) => Object.assign(Object.create(null), { [name]: value })],
    ['a flat array', (name, value) => [name, value]],
    ['a Map', (name, value) => new Map([[name, value]])],
    [
      'a generator',
      (name, value) =>
        (function* () {
          yield [name, value]
        })(),
    ],
    [
      'an object with its own iterator',
      (name, value) => ({
        *[Symbol.iterator]() {
          yield [name, value]
        },
      }),
    ],
  ]
  for (const [shape, make] of SHAPES) {
    refuses(`header names and values in ${shape}`, function* () {
      for (const text of LINE_BREAKS) {
        yield withHeaders(make(name(text), 'v'))
        yield withHeaders(make('x-a', `v${text}`))
        yield withHeaders(make('x-a', ['fine', `v${text}`]))
        yield withHeaders(make('content-length', `0${text}`))
        yield withHeaders(make('connection', `close${text}`))
      }
      for (const text of [' ', ':', '(', '\u00e9', '']) yield withHeaders(make(text, 'v'))
    })
  }

  refuses('header fields that an interceptor adds', function* () {
    for (const text of LINE_BREAKS) {
      yield (client) =>
        client
          .compose(
            (dispatch) => (options, handler) => dispatch({ ...options, headers: { a: text } }, handler),
          )
          .request({ path: '/', method: 'GET' })
    }
  })

  test('header fields that a diagnostics subscriber leaves in a request', async (t) => {
    const { client, seen } = await overHttp1(t)
    const meddle = (message: unknown): void => {
      const { request } = message as { request: { path: string; headers: unknown[] } }
      if (request.path === '/meddled') request.headers.push('x-a', 'v\r\nx-injected: yes')
    }
    subscribe('undici:request:create', meddle)
    t.after(() => unsubscribe('undici:request:create', meddle))
    const attack = client.request({ path: '/meddled', method: 'GET' })
    const failed = assert.rejects(attack, { code: 'UND_ERR_INVALID_ARG' })
    const text = await seen()
    await failed
    assert.doesNotMatch(text, /meddled|injected/)
  })

  test('a URL is read as WHATWG says: line breaks in it are nothing', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const dispatcher = client
    const asked = request(`${server.url}/a\r\nx-injected: yes`, { dispatcher })
    const connection = await server.accept()
    assert.match(
      await connection.head(),
      /^GET \/ax-injected:%20yes HTTP\/1\.1\r\nhost: [^\r\n]*\r\nconnection: keep-alive\r\n\r\n$/,
    )
    connection.send(OK)
    await (await asked).body.text()
  })

  test('keys and values of query are percent-encoded', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const asked = client.request({ path: '/', method: 'GET', query: { 'a\r\nb': ['c\r\nd', 'e f'] } })
    const connection = await server.accept()
    assert.match(await connection.head(), /^GET \/\?a%0D%0Ab=c%0D%0Ad&a%0D%0Ab=e%20f HTTP\/1\.1\r\n/)
    connection.send(OK)
    await (await asked).body.text()
  })

  test('fetch refuses them too', async () => {
    await assert.rejects(
      fetch('http://127.0.0.1:1/', { headers: { 'x-a': 'v\r\nx-injected: yes' } }),
      TypeError,
    )
    await assert.rejects(fetch('http://127.0.0.1:1/', { method: 'GET / HTTP/1.1\r\n' }), TypeError)
  })
})

describe('CVE-2022-35948: CRLF in content-type', () => {
  refuses('as a header', function* () {
    for (const text of LINE_BREAKS) {
      yield (client) =>
        ask(client, { method: 'POST', body: 'x', headers: { 'content-type': `text/plain${text}` } })
    }
  })
})

describe('CVE-2023-23936: CRLF in host', () => {
  refuses('as a header', function* () {
    for (const text of LINE_BREAKS) {
      yield withHeaders({ host: `a.test${text}` })
      yield withHeaders(['Host', `a.test${text}`])
      yield withHeaders({ host: ['a.test', `b.test${text}`] })
    }
    yield withHeaders(['host', 'a.test', 'host', 'b.test'])
  })

  test(':authority and its like of a caller do not reach the wire', async (t) => {
    const pseudo = {
      ':authority': 'evil.test\r\nx: y',
      ':path': '/evil',
      ':method': 'PUT',
      ':scheme': 'file',
    }
    const scripted = await startScriptedServer(t)
    const over1 = new Client(scripted.url)
    t.after(() => over1.destroy())
    const asked1 = ask(over1, { headers: pseudo })
    const connection = await scripted.accept()
    assert.equal(
      (await connection.head()).replace(/127\.0\.0\.1:\d+/, 'origin'),
      'GET / HTTP/1.1\r\nhost: origin\r\nconnection: keep-alive\r\n\r\n',
    )
    connection.send(OK)
    await asked1
    await assert.rejects(ask(over1, { headers: { ':protocol': 'websocket' } }), errors.InvalidArgumentError)

    const server = await startH2Server(t)
    const client = new H2CClient(server.url)
    t.after(() => client.destroy())
    const asked = ask(client, { headers: pseudo })
    const peer = await server.accept()
    const { id, headers } = await peer.request()
    const { ':authority': host, ':path': path, ':method': method, ':scheme': scheme } = headers
    assert.deepEqual([host, path, method, scheme], [new URL(server.url).host, '/', 'GET', 'http'])
    peer.respond(id)
    await asked
    await assert.rejects(ask(client, { headers: { ':protocol': 'websocket' } }), errors.InvalidArgumentError)
  })

  test('a server name with such characters is not connected to', async (t) => {
    const client = new Client('https://localhost:1', { connect: { ca: authority } })
    t.after(() => client.destroy())
    for (const servername of ['a.test\r\nx', 'a.test\0.evil.test', 'a test']) {
      await assert.rejects(ask(client, { servername }), { message: /^invalid servername/ })
    }
  })
})

describe('CVE-2026-1527: CRLF in the upgrade option', () => {
  refuses('of dispatch() and as the protocol of upgrade()', function* () {
    for (const text of LINE_BREAKS) {
      yield (client) => client.upgrade({ path: '/', protocol: `websocket${text}` })
      yield (client) => ask(client, { upgrade: `websocket${text}` })
      yield withHeaders({ upgrade: `websocket${text}` })
    }
  })
})

describe('CVE-2026-15157: CRLF in the type of a body', () => {
  const hostile = Object.defineProperty(new Blob(['x']), 'type', { value: 'text/plain\r\nx-injected: yes' })

  test('a Blob whose type is more than a type is not sent', async (t) => {
    const { client, seen } = await overHttp1(t)
    const attack = client.request({ path: '/', method: 'POST', body: hostile })
    const refused = assert.rejects(attack, errors.InvalidArgumentError)
    assert.doesNotMatch(await seen(), /injected|POST/)
    await refused
  })
})

describe('axios GHSA-445q: CRLF in the part headers of a form', () => {
  test('names, file names and types stay what they are', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const form = new FormData()
    form.append('a"\r\nx-injected: yes', 'value')
    form.append('file', new File(['content'], 'b"\r\nx-injected: yes', { type: 'text/plain' }))
    const file = {
      name: 'c\nx-injected: yes',
      type: 'text/plain\r\nx-injected: yes',
      size: 1,
      async *stream() {
        yield Buffer.from('1')
      },
    }
    const hostile = {
      append() {},
      delete() {},
      get() {},
      getAll() {},
      has() {},
      set() {},
      [Symbol.toStringTag]: 'FormData',
      *[Symbol.iterator]() {
        yield* form
        yield ['like', file]
      },
    }
    const asked = client.request({ path: '/', method: 'POST', body: hostile as unknown as FormData })
    const connection = await server.accept()
    const boundary = /boundary=(\S+)/.exec(await connection.head())?.[1]
    const body = await connection.until(`--${boundary}--\r\n`)
    assert.doesNotMatch(body, /^x-injected/m)
    assert.match(body, /name="a%22%0D%0Ax-injected: yes"\r\n\r\nvalue\r\n/)
    assert.match(body, /filename="b%22%0D%0Ax-injected: yes"\r\n/)
    assert.match(
      body,
      /filename="c%0Ax-injected: yes"\r\nContent-Type: application\/octet-stream\r\n\r\n1\r\n/,
    )
    connection.send(OK)
    await (await asked).body.text()
  })
})

describe('undici#5579: values that are coerced to strings', () => {
  const hostile = 'v\r\nx-injected: yes'

  refuses('an object is no header value, whatever it says of itself', function* () {
    for (const value of [
      disguised(hostile),
      { [Symbol.toPrimitive]: () => hostile },
      new String(hostile),
      Object.assign([], { toString: () => hostile, 0: disguised(hostile) }),
      [new String(hostile)],
      [[hostile]],
      new Date(0),
    ]) {
      yield withHeaders({ 'x-a': value })
      yield withHeaders(['x-a', value])
      yield withHeaders(new Map([['x-a', value]]))
    }
  })

  refuses('an object is no method, path, upgrade or header name', function* () {
    yield (client) => ask(client, { method: disguised('GET') })
    yield (client) => ask(client, { path: disguised('/') })
    yield (client) => ask(client, { upgrade: disguised('websocket') })
    yield withHeaders([disguised('x-a'), 'v'])
    yield withHeaders(new Map([[disguised('x-a'), 'v']]))
  })

  test('what is checked is the very string that is sent', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const value = turncoat('checked', hostile)
    const method = turncoat('GET', 'GET / HTTP/1.1\r\n')
    const headers = {
      get 'x-a'() {
        return value.value
      },
    }
    const asked = client.request({ path: '/', method: 'GET', headers })
    const connection = await server.accept()
    assert.match(await connection.head(), /\r\nx-a: checked\r\n\r\n$/)
    assert.equal(value.reads, 1)
    connection.send(OK)
    await (await asked).body.text()

    const odd = {
      path: '/',
      get method() {
        return method.value
      },
    }
    await assert.rejects(client.request(odd), errors.InvalidArgumentError)
  })

  test('numbers, booleans and null are sent as they print', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const asked = client.request({
      path: '/',
      method: 'GET',
      headers: { a: 1, b: 2n, c: true, d: null, e: undefined },
    })
    const connection = await server.accept()
    assert.match(await connection.head(), /\r\na: 1\r\nb: 2\r\nc: true\r\nd: \r\n\r\n$/)
    connection.send(OK)
    await (await asked).body.text()
  })
})

describe('a request that is refused takes nobody with it', () => {
  const DISPATCHERS: readonly (readonly [string, (url: string) => Dispatcher])[] = [
    ['Client', (url) => new Client(url)],
    ['Pool', (url) => new Pool(url, { connections: 1 })],
    [
      'Pool with a factory',
      (url) => new Pool(url, { connections: 1, factory: (origin) => new Client(origin) }),
    ],
    ['RoundRobinPool', (url) => new RoundRobinPool(url, { connections: 1 })],
    ['BalancedPool', (url) => new BalancedPool(url)],
    ['Agent', () => new Agent()],
    ['Agent with a factory', () => new Agent({ factory: (origin) => new Client(origin) })],
  ]
  for (const [name, make] of DISPATCHERS) {
    test(`those behind it are sent by a ${name}`, async (t) => {
      const server = await startScriptedServer(t)
      const dispatcher = make(server.url)
      t.after(() => dispatcher.destroy())
      const good = { origin: server.url, path: '/', method: 'GET' }
      for (const bad of [{ headers: { 'x-a': 'v\r\n' } }, { path: ' ' }, { method: '' }, { body: 5 }]) {
        await assert.rejects(dispatcher.request({ ...good, ...bad } as unknown as DispatchOptions))
      }
      const asked = dispatcher.request(good)
      const connection = await server.accept()
      await connection.head()
      connection.send(OK)
      assert.equal(await (await asked).body.text(), 'ok')
    })
  }
})
