/** The shape of the web classes, as their IDL says: names, and how many arguments each operation needs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as ventuno from '../src/index.ts'

type Operations = Readonly<Record<string, number>>

const BODY: Operations = { arrayBuffer: 0, blob: 0, bytes: 0, formData: 0, json: 0, text: 0, textStream: 0 }
const LISTS: Operations = { entries: 0, forEach: 1, keys: 0, values: 0 }

/** The length of the constructor, of its operations, and of the static ones. */
const INTERFACES: Readonly<Record<string, [length: number, operations: Operations, statics?: Operations]>> = {
  Headers: [0, { append: 2, delete: 1, get: 1, getSetCookie: 0, has: 1, set: 2, ...LISTS }],
  Request: [1, { clone: 0, ...BODY }],
  Response: [0, { clone: 0, ...BODY }, { error: 0, json: 1, redirect: 1 }],
  FormData: [0, { append: 2, delete: 1, get: 1, getAll: 1, has: 1, set: 2, ...LISTS }],
  WebSocket: [1, { addEventListener: 2, close: 0, dispatchEvent: 1, removeEventListener: 2, send: 1 }],
  WebSocketStream: [1, { close: 0 }],
  WebSocketError: [0, {}],
  EventSource: [1, { addEventListener: 2, close: 0, dispatchEvent: 1, removeEventListener: 2 }],
  MessageEvent: [1, { initMessageEvent: 1 }],
  CloseEvent: [1, {}],
  ErrorEvent: [1, {}],
}

const lengthsOf = (holder: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.map((name) => [name, (holder as Record<string, { length: number } | undefined>)[name]?.length]),
  )

/** The runtime's, which are longer than IDL says: `addEventListener(type, listener, options = …)`. */
const inherited = (name: string, length: number): number =>
  Object.hasOwn(EventTarget.prototype, name)
    ? (EventTarget.prototype as unknown as Record<string, { length: number }>)[name]!.length
    : length

for (const [name, [length, operations, statics = {}]] of Object.entries(INTERFACES)) {
  test(name, () => {
    const declared = (ventuno as unknown as Record<string, new () => object>)[name]!
    const { prototype } = declared as { prototype: object }
    assert.deepEqual([declared.name, declared.length], [name, length])
    const expected = Object.fromEntries(
      Object.entries(operations).map(([operation, needed]) => [operation, inherited(operation, needed)]),
    )
    assert.deepEqual(lengthsOf(prototype, Object.keys(operations)), expected)
    assert.deepEqual(lengthsOf(declared, Object.keys(statics)), statics)
    assert.equal((prototype as { constructor: unknown }).constructor, declared)
    for (const operation of [...Object.keys(operations), ...Object.keys(statics)]) {
      const holder = operation in operations ? prototype : declared
      const { name: told } = (holder as Record<string, { name: string }>)[operation]!
      assert.equal(told, operation)
    }
  })
}

test('Cache, CacheStorage', async () => {
  const { caches } = ventuno
  const cache = await caches.open('shape')
  for (const [object, name, operations] of [
    [cache, 'Cache', { add: 1, addAll: 1, delete: 1, keys: 0, match: 1, matchAll: 0, put: 2 }],
    [caches, 'CacheStorage', { delete: 1, has: 1, keys: 0, match: 1, open: 1 }],
  ] as const) {
    const { constructor: declared } = object as unknown as { constructor: { name: string; length: number } }
    assert.deepEqual([declared.name, declared.length], [name, 0])
    assert.deepEqual(lengthsOf(object, Object.keys(operations)), operations)
    assert.throws(() => Reflect.construct(declared as never, []), TypeError)
  }
})

test('fetch', () => {
  assert.deepEqual([ventuno.fetch.name, ventuno.fetch.length], ['fetch', 1])
})

test('an object that is made has the constructor that made it', () => {
  for (const [name, args] of Object.entries({
    Headers: [],
    Request: ['http://a.test'],
    Response: [],
    FormData: [],
    MessageEvent: ['x'],
    CloseEvent: ['x'],
    ErrorEvent: ['x'],
    WebSocketError: [],
  })) {
    const declared = (ventuno as unknown as Record<string, new (...args: unknown[]) => object>)[name]!
    const object = new declared(...args)
    assert.equal(object.constructor, declared, name)
    assert.ok(object instanceof declared, name)
    assert.equal(Object.prototype.toString.call(object), `[object ${name}]`)
  }
})
