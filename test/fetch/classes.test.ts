/** The shape of the web classes, how they work with those of the runtime, and the global origin. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  FormData,
  fetch,
  getGlobalOrigin,
  Headers,
  Request,
  Response,
  setGlobalOrigin,
} from '../../src/index.ts'

const URL_ = 'http://a.test/'

const BODY_MEMBERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text', 'textStream']

/** Class, an object of it, the members of its prototype. */
const CLASSES: [name: string, made: object, members: string[]][] = [
  [
    'Headers',
    new Headers(),
    ['append', 'delete', 'entries', 'forEach', 'get', 'getSetCookie', 'has', 'keys', 'set', 'values'],
  ],
  [
    'Request',
    new Request(URL_),
    [
      'body',
      'bodyUsed',
      'cache',
      'clone',
      'credentials',
      'destination',
      'duplex',
      'headers',
      'integrity',
      'isHistoryNavigation',
      'isReloadNavigation',
      'keepalive',
      'method',
      'mode',
      'redirect',
      'referrer',
      'referrerPolicy',
      'signal',
      'url',
      ...BODY_MEMBERS,
    ],
  ],
  [
    'Response',
    new Response(),
    [
      'body',
      'bodyUsed',
      'clone',
      'headers',
      'ok',
      'redirected',
      'status',
      'statusText',
      'type',
      'url',
      ...BODY_MEMBERS,
    ],
  ],
]

describe('the classes', () => {
  for (const [name, made, members] of CLASSES) {
    const { constructor: Class } = made
    test(`${name}: members enumerable on the prototype, none of its own`, () => {
      const prototype = Object.getPrototypeOf(made)
      assert.deepEqual(Object.keys(prototype).sort(), [...members].sort())
      assert.deepEqual([Object.keys({ ...made }), Reflect.ownKeys(made)], [[], []])
      assert.equal(Class.name, name)
      assert.equal(Object.prototype.toString.call(made), `[object ${name}]`)
      assert.equal(Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.writable, false)
    })

    test(`${name}: not without new, and not on other objects`, async () => {
      assert.throws(() => (Class as () => void)(), TypeError)
      const prototype = Object.getPrototypeOf(made)
      for (const member of members) {
        const { get, value } = Object.getOwnPropertyDescriptor(prototype, member)!
        for (const receiver of [{}, prototype, undefined]) {
          const call = async () => Reflect.apply(get ?? value, receiver, ['a', 'b'])
          await assert.rejects(call(), { name: 'TypeError', message: 'Illegal invocation' })
        }
      }
    })

    test(`${name}: refuses structuredClone where the runtime lets it`, () => {
      const { markAsUncloneable } = process.getBuiltinModule('node:worker_threads') as {
        markAsUncloneable?: unknown
      }
      if (markAsUncloneable === undefined) assert.deepEqual(structuredClone(made), {})
      else assert.throws(() => structuredClone(made), { name: 'DataCloneError' })
    })
  }

  test('lengths and names', () => {
    assert.deepEqual([fetch.length, Request.length, Response.length, Headers.length], [1, 1, 0, 0])
    assert.equal(fetch.name, 'fetch')
    assert.deepEqual(Object.keys(Response).sort(), ['error', 'json', 'redirect'])
    assert.deepEqual(
      (['append', 'set', 'get', 'has', 'delete', 'forEach'] as const).map(
        (name) => Headers.prototype[name].length,
      ),
      [2, 2, 1, 1, 1, 1],
    )
  })

  test('can be extended', async () => {
    class MyHeaders extends Headers {
      get answer(): number {
        return 42
      }
    }
    const mine = new MyHeaders({ a: 'b' })
    assert.deepEqual([mine.answer, mine.get('a'), mine instanceof Headers], [42, 'b', true])
    class MyRequest extends Request {}
    assert.ok(new MyRequest(URL_) instanceof Request)
    class MyResponse extends Response {}
    assert.equal(await new MyResponse('x').text(), 'x')
  })

  test("FormData is the runtime's", () => {
    const form = new FormData()
    form.append('a', 'b')
    assert.ok(form instanceof globalThis.FormData)
    assert.ok(new globalThis.FormData() instanceof FormData)
    assert.equal(form.get('a'), 'b')
    assert.equal(FormData.name, 'FormData')
    assert.throws(() => (FormData as unknown as () => void)(), TypeError)
    assert.equal('prototype' in FormData, true)
    class Mine extends FormData {}
    assert.ok(new Mine() instanceof FormData)
  })
})

describe("the runtime's classes", () => {
  test('take ours by their parts', async () => {
    const ours = new Request(URL_, { method: 'POST', body: 'text', headers: { a: 'b' } })
    const theirs = new globalThis.Request(ours.url, ours as unknown as globalThis.RequestInit)
    assert.deepEqual([theirs.method, theirs.headers.get('a'), await theirs.text()], ['POST', 'b', 'text'])
    const response = new Response('text', { status: 201, headers: { a: 'b' } })
    const other = new globalThis.Response(
      response.body as unknown as globalThis.ReadableStream,
      response as unknown as globalThis.ResponseInit,
    )
    assert.deepEqual([other.status, other.headers.get('a'), await other.text()], [201, 'b', 'text'])
    assert.equal(response instanceof globalThis.Response, false)
  })

  test('lead ours to what insists on theirs', async () => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    const ours = new Response(empty, { headers: { 'content-type': 'application/wasm' } })
    const theirs = new globalThis.Response(
      ours.body as unknown as globalThis.ReadableStream,
      ours as unknown as globalThis.ResponseInit,
    )
    // Not in the types of Node 20.
    const { WebAssembly: wasm } = globalThis as unknown as {
      WebAssembly: { compileStreaming(source: object): Promise<object> }
    }
    assert.equal(String(await wasm.compileStreaming(theirs)), '[object WebAssembly.Module]')
  })

  test('are taken by ours', async () => {
    const controller = new AbortController()
    const theirs = new globalThis.Request('http://a.test/x', {
      method: 'PUT',
      body: 'text',
      headers: { 'X-A': 'b' },
      redirect: 'manual',
      signal: controller.signal,
    })
    const ours = new Request(theirs)
    assert.deepEqual([ours.url, ours.method, ours.redirect], ['http://a.test/x', 'PUT', 'manual'])
    assert.deepEqual([ours.headers.get('x-a'), await ours.text()], ['b', 'text'])
    controller.abort('why')
    assert.equal(ours.signal.reason, 'why')
    assert.throws(() => new Request(theirs), /already been used/)
    assert.equal(await new Request(theirs, { body: 'other' }).text(), 'other')
    const get = new globalThis.Request(URL_, { referrer: '' })
    assert.deepEqual([new Request(get).referrer, new Request(get).body], ['', null])
  })

  test('one that only looks like a request is a URL', () => {
    assert.throws(() => new Request({ url: URL_, method: 'GET' } as never), /Failed to parse URL/)
    const tagged = { url: URL_, method: 'GET', [Symbol.toStringTag]: 'Request' }
    assert.equal(new Request(tagged).url, URL_)
    // Only a document can make one; it is sent like any other.
    assert.equal(new Request({ ...tagged, mode: 'navigate' } as never).mode, 'cors')
  })
})

describe('the global origin', () => {
  test('set, read and cleared', (t) => {
    t.after(() => setGlobalOrigin(undefined))
    assert.equal(getGlobalOrigin(), undefined)
    setGlobalOrigin('http://a.test/base')
    assert.equal(String(getGlobalOrigin()), 'http://a.test/base')
    setGlobalOrigin(new URL('https://b.test'))
    assert.equal(getGlobalOrigin()?.host, 'b.test')
    assert.throws(() => setGlobalOrigin('ftp://a.test'), TypeError)
    setGlobalOrigin(undefined)
    assert.equal(getGlobalOrigin(), undefined)
  })
})
