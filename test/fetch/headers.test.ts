/** The class `Headers`, and its underlying list. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { HeaderList } from '../../src/fetch/headers/header-list.ts'
import { makeHeaders } from '../../src/fetch/headers/headers.ts'
import { Headers } from '../../src/index.ts'

function message(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error))
    return error.message
  }
  return assert.fail('nothing was thrown')
}

const make = (init: unknown): Headers => new Headers(init as never)

describe('Headers are made from', () => {
  test('records, pairs, other headers, maps', () => {
    for (const init of [
      { b: '2', A: '1' },
      [
        ['b', '2'],
        ['A', '1'],
      ],
      new Map([
        ['b', '2'],
        ['A', '1'],
      ]),
      new Headers({ b: '2', A: '1' }),
      new globalThis.Headers({ b: '2', A: '1' }),
    ]) {
      assert.deepEqual(
        [...make(init)],
        [
          ['a', '1'],
          ['b', '2'],
        ],
      )
    }
    assert.deepEqual([...new Headers()], [])
    assert.deepEqual([...make(undefined)], [])
  })

  test('headers whose iterator was replaced are asked', () => {
    const replaced = new Headers({ a: '1' })
    replaced[Symbol.iterator] = function* () {
      yield ['other', '2']
    } as never
    assert.deepEqual([...make(replaced)], [['other', '2']])
  })

  test('own enumerable properties only; each is read once', () => {
    const reads: string[] = []
    const init = {
      get a() {
        reads.push('a')
        return '1'
      },
    }
    Object.defineProperty(init, 'hidden', { value: 'x', enumerable: false })
    assert.deepEqual(
      [...make(Object.create({ inherited: 'x' }, Object.getOwnPropertyDescriptors(init)))],
      [['a', '1']],
    )
    assert.deepEqual(reads, ['a'])
  })

  test('records in which a name comes in two spellings', () => {
    assert.deepEqual(
      [...make({ a: '1', b: '2', A: '3' })],
      [
        ['a', '1, 3'],
        ['b', '2'],
      ],
    )
  })

  test('records that change afterwards', () => {
    const init: Record<string, string> = { a: '1' }
    const headers = make(init)
    init['a'] = '2'
    init['b'] = '3'
    assert.deepEqual([...headers], [['a', '1']])
    const copy = make(headers)
    headers.append('a', '4')
    assert.deepEqual(
      [...headers, ...copy],
      [
        ['a', '1, 4'],
        ['a', '1'],
      ],
    )
  })

  test('records with a field called __proto__', () => {
    const headers = make(JSON.parse('{"a":"1","__proto__":"2"}'))
    assert.deepEqual([headers.get('a'), headers.get('__proto__')], ['1', '2'])
  })

  test('records with a value between spaces after others', () => {
    assert.deepEqual(
      [...make({ a: '1', b: ' 2\t', c: 3 })],
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ],
    )
  })

  test('nothing else', () => {
    const wrong =
      'Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.'
    for (const init of [1, null, 'a: b', Symbol('x'), true])
      assert.equal(
        message(() => make(init)),
        wrong,
      )
    assert.equal(
      message(() => make([['a']])),
      'Headers constructor: expected name/value pair to be length 2, found 1.',
    )
    assert.equal(
      message(() => make(['ab'])),
      'Headers constructor: init[0] ("ab") is not iterable.',
    )
    assert.equal(
      message(() => make([1])),
      'Headers constructor: init[0] (1) is not iterable.',
    )
    assert.equal(
      message(() => make({ 'a b': '1' })),
      'Headers.append: "a b" is an invalid header name.',
    )
    assert.match(
      message(() => make({ [Symbol('x')]: '1' })),
      /symbol/,
    )
  })

  test('an iterator on Object.prototype changes nothing', (t) => {
    t.after(() => Reflect.deleteProperty(Object.prototype, Symbol.iterator))
    Object.defineProperty(Object.prototype, Symbol.iterator, {
      value: function* () {
        yield ['polluted', '1']
      },
      configurable: true,
    })
    assert.equal(make({ a: '1' }).get('a'), '1')
  })
})

describe('the methods of Headers', () => {
  test('append joins, set replaces, delete removes', () => {
    const headers = new Headers()
    headers.append('A', '1')
    headers.append('a', '  2\t')
    assert.equal(headers.get('a'), '1, 2')
    headers.append('a', '\r\n 3 \n\r')
    assert.equal(headers.get('a'), '1, 2, 3')
    headers.append('cookie', 'a=b')
    headers.append('Cookie', 'c=d')
    assert.equal(headers.get('cookie'), 'a=b; c=d')
    headers.set('a', '3')
    assert.equal(headers.get('A'), '3')
    assert.equal(headers.has('a'), true)
    headers.delete('a')
    headers.delete('never')
    assert.equal(headers.has('a'), false)
    assert.equal(headers.get('a'), null)
  })

  test('a server may need what browsers forbid', () => {
    const headers = new Headers({ host: 'a', cookie: 'b', origin: 'c', 'content-length': '1' })
    assert.deepEqual([...headers.keys()], ['content-length', 'cookie', 'host', 'origin'])
  })

  test('set-cookie is kept apart', () => {
    const headers = new Headers([
      ['Set-Cookie', 'a=1'],
      ['b', '2'],
      ['set-cookie', 'c=3'],
    ])
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'c=3'])
    assert.equal(headers.get('set-cookie'), 'a=1, c=3')
    assert.deepEqual(
      [...headers],
      [
        ['b', '2'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'c=3'],
      ],
    )
    headers.getSetCookie().push('mine')
    headers.set('set-cookie', 'only=1')
    assert.deepEqual(headers.getSetCookie(), ['only=1'])
    headers.delete('set-cookie')
    assert.deepEqual(headers.getSetCookie(), [])
  })

  test('values that are no strings are converted', () => {
    const headers = new Headers()
    headers.append('a', 1 as never)
    headers.append('b', undefined as never)
    assert.deepEqual([...headers.values()], ['1', 'undefined'])
  })

  test('what they refuse', () => {
    const headers = new Headers() as Headers & Record<string, (...args: unknown[]) => unknown>
    for (const [name, needed] of [
      ['append', '2 arguments'],
      ['set', '2 arguments'],
      ['get', '1 argument'],
      ['has', '1 argument'],
      ['delete', '1 argument'],
      ['forEach', '1 argument'],
    ] as const) {
      const call = (...args: unknown[]) => (headers[name] as (...args: unknown[]) => unknown)(...args)
      assert.equal(
        message(() => call()),
        `Headers.${name}: ${needed} required, but 0 found.`,
      )
      if (name !== 'forEach') {
        assert.equal(
          message(() => call('a b', 'c')),
          `Headers.${name}: "a b" is an invalid header name.`,
        )
        assert.equal(
          message(() => call('', 'c')),
          `Headers.${name}: "" is an invalid header name.`,
        )
      }
      assert.equal(
        message(() => Reflect.apply(headers[name] as () => unknown, {}, ['a', 'b'])),
        'Illegal invocation',
      )
    }
    assert.equal(
      message(() => headers.set('a', 'b\r\nc')),
      'Headers.set: "b\r\nc" is an invalid header value.',
    )
    assert.equal(
      message(() => headers.append('a', 'b\0')),
      'Headers.append: "b\0" is an invalid header value.',
    )
    assert.equal(
      message(() => headers.append('a', 'b€')),
      'Cannot convert argument to a ByteString because the character at index 1 has a value of 8364 which is greater than 255.',
    )
    assert.equal(
      message(() => headers.append(Symbol('x') as never, 'b')),
      'Headers.append: name is a symbol, which cannot be converted to a ByteString.',
    )
    assert.equal(
      message(() => headers.forEach(1 as never)),
      "Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.",
    )
    assert.deepEqual([...headers], [])
  })

  test('forEach calls with value, name and headers, and the receiver given', () => {
    const headers = new Headers({ b: '2', a: '1' })
    const calls: unknown[] = []
    const receiver = {}
    headers.forEach(function (this: unknown, ...args) {
      calls.push([this, ...args])
    }, receiver)
    assert.deepEqual(calls, [
      [receiver, '1', 'a', headers],
      [receiver, '2', 'b', headers],
    ])
  })

  test('iteration follows what is written meanwhile', () => {
    const headers = new Headers({ a: '1', c: '3' })
    const names: string[] = []
    for (const [name] of headers) {
      names.push(name)
      if (name === 'a') headers.set('b', '2')
    }
    assert.deepEqual(names, ['a', 'b', 'c'])
  })

  test('iterators are those of the platform', () => {
    const iterator = new Headers({ a: '1' }).entries()
    const prototype = Object.getPrototypeOf(iterator)
    assert.equal(Object.prototype.toString.call(iterator), '[object Headers Iterator]')
    assert.equal(Object.getPrototypeOf(prototype), Object.getPrototypeOf(Object.getPrototypeOf([].values())))
    assert.equal(Object.getOwnPropertyDescriptor(prototype, 'next')?.enumerable, true)
    assert.equal(
      message(() => iterator.next.call({} as never)),
      "'next' called on an object that does not implement interface Headers Iterator.",
    )
    assert.deepEqual(iterator.next(), { value: ['a', '1'], done: false })
    assert.deepEqual(iterator.next(), { value: undefined, done: true })
    assert.equal(Headers.prototype[Symbol.iterator], Headers.prototype.entries)
  })
})

describe('the list of a response', () => {
  test('is read as it came, and cannot be changed', () => {
    const received = { 'x-a': '1', 'x-many': ['1', '2'], 'set-cookie': ['a=1', 'b=2'], cookie: ['c', 'd'] }
    const list = new HeaderList(received)
    const headers = makeHeaders(list, 'immutable')
    assert.equal(headers.get('X-A'), '1')
    assert.equal(headers.get('x-many'), '1, 2')
    assert.equal(headers.get('cookie'), 'c; d')
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'b=2'])
    assert.deepEqual(
      [headers.has('x-a'), headers.has('constructor'), headers.get('constructor')],
      [true, false, null],
    )
    for (const write of [
      () => headers.append('a', 'b'),
      () => headers.set('a', 'b'),
      () => headers.delete('x-a'),
    ]) {
      assert.equal(message(write), 'immutable')
    }
    assert.deepEqual([...headers.keys()], ['cookie', 'set-cookie', 'set-cookie', 'x-a', 'x-many'])
    // The same results from the list that iterating has created.
    assert.deepEqual([headers.get('x-many'), headers.get('cookie')], ['1, 2', 'c; d'])
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'b=2'])
  })

  test('a copy is a list of its own, with names as they were given', () => {
    const list = new HeaderList()
    list.append('X-A', 'x-a', '1')
    list.append('Set-Cookie', 'set-cookie', 'a')
    const copy = list.copy()
    copy.append('x-a', 'x-a', '2')
    copy.append('set-cookie', 'set-cookie', 'b')
    assert.deepEqual([list.get('x-a'), list.setCookies()], ['1', ['a']])
    const names: string[] = []
    copy.forEach((name) => void names.push(name))
    assert.deepEqual([names, copy.get('x-a'), copy.setCookies()], [['X-A', 'Set-Cookie'], '1, 2', ['a', 'b']])
    assert.deepEqual([new HeaderList().isEmpty, copy.isEmpty], [true, false])
  })
})

test('console.log shows the fields', () => {
  const headers = new Headers({ B: '1', 'set-cookie': 'x' })
  assert.equal(inspect(headers), "Headers { B: '1', 'set-cookie': 'x' }")
  headers.append('set-cookie', 'y')
  assert.equal(inspect({ headers }), "{ headers: Headers { B: '1', 'set-cookie': [ 'x', 'y' ] } }")
  // A new value keeps the place and the spelling of the name.
  headers.set('b', '2')
  headers.set('Set-Cookie', 'z')
  assert.equal(inspect(headers), "Headers { B: '2', 'set-cookie': 'z' }")
})
