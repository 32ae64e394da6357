/** How `Headers`, `Request` and `Response` convert what they are given, as Web IDL and the Fetch standard say. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  caches,
  type DispatchHandler,
  type DispatchOptions,
  Headers,
  Request,
  type RequestInit,
  Response,
  setGlobalOrigin,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'

const URL_ = 'http://a.test/'

/** Records what is read of an object. */
function observed(target: object): { readonly proxy: never; readonly reads: string[] } {
  const reads: string[] = []
  const proxy = new Proxy(target, {
    get(object, key) {
      reads.push(`get ${String(key)}`)
      return Reflect.get(object, key) as unknown
    },
    getOwnPropertyDescriptor(object, key) {
      reads.push(`own ${String(key)}`)
      return Reflect.getOwnPropertyDescriptor(object, key)
    },
  })
  return { proxy: proxy as never, reads }
}

describe('a record of headers', () => {
  test('a name that is no ByteString is refused before its value is read', () => {
    for (const [odd, message] of [
      ['\u0100', /index 0 has a value of 256/],
      [
        Symbol('x'),
        'Headers constructor: Key Symbol(x) in init is a symbol, which cannot be converted to a ByteString.',
      ],
    ] as const) {
      const { proxy, reads } = observed({ a: '1', [odd]: '2', c: '3' })
      assert.throws(() => new Headers(proxy), { name: 'TypeError', message })
      assert.equal(reads.at(-1), `own ${String(typeof odd === 'symbol' ? odd : odd)}`)
      let read = 0
      const plain = Object.defineProperty({ a: '1' }, odd, { enumerable: true, get: () => read++ })
      assert.throws(() => new Headers(plain as never), { name: 'TypeError', message })
      assert.equal(read, 0)
    }
  })

  test('all values are converted before a name is refused', () => {
    const reads: string[] = []
    const record = {
      a: '1',
      'x y': '2',
      get last() {
        reads.push('last')
        return '3'
      },
    }
    assert.throws(() => new Headers(record), { message: 'Headers.append: "x y" is an invalid header name.' })
    assert.deepEqual(reads, ['last'])
  })

  test('a value that is a symbol', () => {
    const message = 'Headers constructor: init["x"] is a symbol, which cannot be converted to a ByteString.'
    assert.throws(() => new Headers({ a: 'b', x: Symbol('v') as never }), { name: 'TypeError', message })
  })

  test('each value is read once, odd or not', () => {
    let reads = 0
    const record = Object.defineProperty({ a: 'b' }, 'c', { enumerable: true, get: () => ++reads })
    assert.deepEqual(
      [...new Headers(record)],
      [
        ['a', 'b'],
        ['c', '1'],
      ],
    )
    assert.equal(reads, 1)
  })
})

describe('pairs of headers', () => {
  test('the iterator of each sequence is asked for once', () => {
    const counts = { outer: 0, inner: 0 }
    const pair = {
      get [Symbol.iterator]() {
        counts.inner++
        return () => ['a', 'b'][Symbol.iterator]()
      },
    }
    const init = {
      get [Symbol.iterator]() {
        counts.outer++
        return () => [pair][Symbol.iterator]()
      },
    }
    assert.deepEqual([...new Headers(init as never)], [['a', 'b']])
    assert.deepEqual(counts, { outer: 1, inner: 1 })
  })

  test('symbols', () => {
    const message = (at: string): string =>
      `Headers constructor: init${at} is a symbol, which cannot be converted to a ByteString.`
    const make = (name: unknown, value: unknown) => () =>
      new Headers([
        ['a', 'b'],
        [name, value],
      ] as never)
    assert.throws(make(Symbol('x'), 'v'), { name: 'TypeError', message: message('[1][0]') })
    assert.throws(make('x', Symbol('v')), { name: 'TypeError', message: message('[1][1]') })
  })
})

describe('the options of a request', () => {
  test('a signal that is none is shown, a string in quotes', () => {
    for (const [signal, shown] of [
      ['', '""'],
      ['x', '"x"'],
      [1, '1'],
      [{}, '{}'],
    ] as const) {
      assert.throws(() => new Request(URL_, { signal: signal as never }), {
        name: 'TypeError',
        message: `RequestInit: Expected signal ("${shown}") to be an instance of AbortSignal.`,
      })
    }
  })

  test('no-cors allows GET, HEAD and POST alone', () => {
    for (const method of ['GET', 'head', 'POST']) {
      assert.equal(new Request(URL_, { mode: 'no-cors', method }).method, method.toUpperCase())
    }
    for (const method of ['PUT', 'DELETE', 'PATCH', 'x']) {
      const message = `'${method} is unsupported in no-cors mode.`
      assert.throws(() => new Request(URL_, { mode: 'no-cors', method }), { name: 'TypeError', message })
      const put = new Request(URL_, { method })
      assert.throws(() => new Request(put, { mode: 'no-cors' }), { name: 'TypeError', message })
    }
  })

  test('about:client in all its spellings', (t) => {
    t.after(() => setGlobalOrigin(undefined))
    for (const origin of [undefined, 'http://client.test']) {
      setGlobalOrigin(origin)
      for (const referrer of [
        'about:client',
        'ABOUT:client',
        'about://client',
        'about://client:80',
        'about://client:8080/x',
      ]) {
        assert.equal(new Request(URL_, { referrer }).referrer, 'about:client', referrer)
      }
    }
    setGlobalOrigin(undefined)
    assert.equal(new Request(URL_, { referrer: 'about:other' }).referrer, 'about:other')
  })

  test('a request made from another leaves the stream of its body in place', async () => {
    const bodies: RequestInit['body'][] = ['text', new Blob(['text']), new Response('text').body]
    for (const body of bodies) {
      const first = new Request(URL_, { method: 'POST', body, duplex: 'half' })
      const stream = first.body
      const second = new Request(first)
      assert.equal(first.body, stream)
      assert.deepEqual([first.bodyUsed, stream!.locked], [true, true])
      assert.notEqual(second.body, stream)
      assert.equal(await second.text(), 'text')
      await assert.rejects(first.text(), TypeError)
      // Without a look at the stream before.
      const third = new Request(URL_, { method: 'POST', body: 'text' })
      assert.equal(await new Request(third).text(), 'text')
      assert.deepEqual([third.body, third.body!.locked], [third.body, true])
    }
  })
})

test('what cannot be stored is shown, a string in quotes', async () => {
  const cache = await caches.open('conversions')
  await assert.rejects(cache.put(URL_, 'x' as never), {
    message: 'Cache.put: Expected response (""x"") to be an instance of Response.',
  })
})

describe('memory as a body', () => {
  test('shared memory becomes a string', async () => {
    const shared = new SharedArrayBuffer(2)
    for (const [body, text] of [
      [shared, '[object SharedArrayBuffer]'],
      [new Uint8Array(shared), '0,0'],
      [new DataView(shared), '[object DataView]'],
    ] as const) {
      const response = new Response(body as never)
      assert.equal(response.headers.get('content-type'), 'text/plain;charset=UTF-8')
      assert.equal(await response.text(), text)
    }
  })

  test('memory that was transferred is empty', async () => {
    const buffer = new ArrayBuffer(4)
    const bodies = [buffer, new Uint8Array(buffer, 1, 2), new DataView(buffer), Buffer.from(buffer)]
    structuredClone(buffer, { transfer: [buffer] })
    for (const body of bodies) {
      assert.equal(await new Response(body).text(), '')
      assert.equal(await new Request(URL_, { method: 'POST', body }).text(), '')
    }
  })
})

describe('sec-fetch-mode', () => {
  /** The fields of a request that nothing sends. */
  async function fieldsOf(url: string, init: RequestInit = {}): Promise<Record<string, string>> {
    let fields: Record<string, string> = {}
    const dispatcher = {
      dispatch(options: DispatchOptions, handler: DispatchHandler) {
        fields = options.headers as Record<string, string>
        handler.onResponseError?.(null as never, new Error('not sent'))
        return true
      },
    }
    await assert.rejects(fetch(url, { dispatcher, ...init }), TypeError)
    return fields
  }

  test('is sent over TLS and to this machine alone', async () => {
    for (const headers of [{}, { 'x-own': '1' }]) {
      for (const url of [
        'https://a.test',
        'http://localhost',
        'http://a.localhost',
        'http://localhost.',
        'http://127.0.0.1',
        'http://127.9.9.9:81',
        'http://[::1]',
      ]) {
        assert.equal((await fieldsOf(url, { headers }))['sec-fetch-mode'], 'cors', url)
      }
      for (const url of ['http://a.test', 'http://127.a.test', 'http://localhost.test', 'http://10.0.0.1']) {
        assert.equal((await fieldsOf(url, { headers }))['sec-fetch-mode'], undefined, url)
      }
    }
  })
})
