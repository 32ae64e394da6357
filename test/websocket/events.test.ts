/** The events of a WebSocket as the HTML and WebSockets standards declare them, over Web IDL. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { CloseEvent, ErrorEvent, MessageEvent } from '../../src/index.ts'

const CLASSES = { MessageEvent, CloseEvent, ErrorEvent } as unknown as Record<
  string,
  new (
    ...args: unknown[]
  ) => Event & Record<string, unknown>
>

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  MessageEvent: ['data', 'origin', 'lastEventId', 'source', 'ports'],
  CloseEvent: ['wasClean', 'code', 'reason'],
  ErrorEvent: ['message', 'filename', 'lineno', 'colno', 'error'],
}

/** In the order in which a dictionary is read: that of the base first, each by name. */
const READ: Readonly<Record<string, readonly string[]>> = {
  MessageEvent: ['data', 'lastEventId', 'origin', 'ports', 'source'],
  CloseEvent: ['code', 'reason', 'wasClean'],
  ErrorEvent: ['colno', 'error', 'filename', 'lineno', 'message'],
}

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error))
    return error.message
  }
  return assert.fail('expected a TypeError')
}

for (const [name, Class] of Object.entries(CLASSES)) {
  describe(name, () => {
    test('is an interface that extends Event', () => {
      assert.deepEqual([Class.name, Class.length], [name, 1])
      assert.equal(Object.getPrototypeOf(Class), Event)
      assert.throws(() => (Class as unknown as (type: string) => void)('a'), TypeError)
      const event = new Class('a')
      assert.ok(event instanceof Event)
      assert.equal(String(event), `[object ${name}]`)
      assert.deepEqual(Object.getOwnPropertyDescriptor(Class.prototype, Symbol.toStringTag), {
        value: name,
        writable: false,
        enumerable: false,
        configurable: true,
      })
      assert.match(inspect(event), new RegExp(`^${name} `))
    })

    test('its type is converted, and required', () => {
      assert.equal(
        messageOf(() => new Class()),
        `${name} constructor: 1 argument required, but 0 found.`,
      )
      assert.equal(
        messageOf(() => new Class(Symbol('a'))),
        `${name} constructor: type is a symbol, which cannot be converted to a DOMString.`,
      )
      assert.equal(new Class(undefined).type, 'undefined')
      assert.equal(new Class(5).type, '5')
    })

    test('its options are a dictionary', () => {
      for (const init of [undefined, null, {}, () => {}]) assert.equal(new Class('a', init).type, 'a')
      for (const init of [5, 'x', true]) {
        assert.equal(
          messageOf(() => new Class('a', init)),
          `${name} constructor: Expected ${init} to be one of: Null, Undefined, Object.`,
        )
      }
      const { bubbles, cancelable, composed } = new Class('a', { bubbles: 1, cancelable: 'x', composed: {} })
      assert.deepEqual([bubbles, cancelable, composed], [true, true, true])
      const read: string[] = []
      new Class('a', new Proxy({}, { get: (_, key) => void read.push(String(key)) }))
      assert.deepEqual(read, ['bubbles', 'cancelable', 'composed', ...READ[name]!])
    })

    test('its attributes are read-only accessors of the prototype, for its own objects', () => {
      const event = new Class('a')
      for (const attribute of ATTRIBUTES[name]!) {
        const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(
          Class.prototype,
          attribute,
        )!
        assert.deepEqual([typeof get, set, enumerable, configurable], ['function', undefined, true, true])
        for (const other of [{}, new Event('a'), Class.prototype, Object.create(event)]) {
          assert.throws(() => get!.call(other), { name: 'TypeError', code: 'ERR_INVALID_THIS' })
        }
        assert.throws(() => {
          event[attribute] = 1
        }, TypeError)
        assert.equal(Object.hasOwn(event, attribute), false)
      }
    })
  })
}

describe('MessageEvent', () => {
  test('defaults', () => {
    const { data, origin, lastEventId, source, ports } = new MessageEvent('a', { data: undefined })
    assert.deepEqual([data, origin, lastEventId, source, ports], [null, '', '', null, []])
    assert.equal(Object.isFrozen(ports), true)
  })

  test('conversions', () => {
    const init = { data: 5, origin: '\ud800', lastEventId: '\ud800' }
    const { data, origin, lastEventId } = new MessageEvent('a', init)
    assert.deepEqual([data, origin, lastEventId], [5, '\ufffd', '\ud800'])
    assert.equal(new MessageEvent('a', { origin: 5 as never }).origin, '5')
    assert.throws(() => new MessageEvent('a', { origin: Symbol('x') as never }), TypeError)
  })

  test('source and ports are message ports', (t) => {
    const { port1, port2 } = new MessageChannel()
    t.after(() => port1.close())
    const given = [port1, port2]
    const event = new MessageEvent('a', { source: port1, ports: given } as never)
    assert.equal(event.source, port1)
    assert.deepEqual([event.ports.length, event.ports[0], event.ports[1]], [2, port1, port2])
    assert.equal(event.ports, event.ports)
    assert.equal(Object.isFrozen(event.ports), true)
    assert.equal(Object.isFrozen(given), false)
    assert.equal(new MessageEvent('a', { ports: new Set([port1]) } as never).ports[0], port1)
    const where = 'MessageEvent constructor:'
    const rows: [init: object, message: string][] = [
      [{ source: 1 }, 'Expected eventInitDict.source ("1") to be an instance of MessagePort.'],
      [{ source: '1' }, 'Expected eventInitDict.source (""1"") to be an instance of MessagePort.'],
      [{ source: {} }, 'Expected eventInitDict.source ("{}") to be an instance of MessagePort.'],
      [{ ports: 0 }, 'eventInitDict.ports (0) is not iterable.'],
      [{ ports: null }, 'eventInitDict.ports (null) is not iterable.'],
      [{ ports: '' }, 'eventInitDict.ports ("") is not iterable.'],
      [{ ports: {} }, 'eventInitDict.ports is not iterable.'],
      [{ ports: [1] }, 'Expected eventInitDict.ports[0] ("1") to be an instance of MessagePort.'],
      [{ ports: [port1, '1'] }, 'Expected eventInitDict.ports[1] (""1"") to be an instance of MessagePort.'],
      [
        { lastEventId: Symbol('x') },
        'eventInitDict.lastEventId is a symbol, which cannot be converted to a DOMString.',
      ],
    ]
    for (const [init, message] of rows) {
      assert.equal(
        messageOf(() => new MessageEvent('a', init as never)),
        `${where} ${message}`,
      )
    }
  })

  test('initMessageEvent makes another message of it', (t) => {
    const { port1 } = new MessageChannel()
    t.after(() => port1.close())
    const { initMessageEvent } = MessageEvent.prototype
    assert.deepEqual([initMessageEvent.name, initMessageEvent.length], ['initMessageEvent', 1])
    const event = new MessageEvent('a', { data: 1, origin: 'o' })
    assert.equal(
      event.initMessageEvent('b', true, true, 2, 'p', 'id', port1 as never, [port1] as never),
      undefined,
    )
    assert.deepEqual(
      [event.type, event.bubbles, event.cancelable, event.data, event.origin, event.lastEventId],
      ['b', true, true, 2, 'p', 'id'],
    )
    assert.deepEqual(
      [event.source === port1, event.ports.length, Object.isFrozen(event.ports)],
      [true, 1, true],
    )
    event.initMessageEvent('c')
    assert.deepEqual(
      [event.type, event.bubbles, event.data, event.origin, event.source, event.ports],
      ['c', false, null, '', null, []],
    )
    const heard: unknown[] = []
    const target = new EventTarget()
    target.addEventListener('c', (heardEvent) => heard.push(heardEvent))
    target.dispatchEvent(event)
    assert.deepEqual(heard, [event])
  })

  test('initMessageEvent checks its arguments and whom it is called on', () => {
    const event = new MessageEvent('a') as unknown as { initMessageEvent(...args: unknown[]): void }
    assert.equal(
      messageOf(() => event.initMessageEvent()),
      'MessageEvent.initMessageEvent: 1 argument required, but 0 found.',
    )
    assert.throws(() => event.initMessageEvent('b', false, false, null, '', '', 5), TypeError)
    assert.throws(() => event.initMessageEvent('b', false, false, null, '', '', null, [5]), TypeError)
    assert.throws(() => event.initMessageEvent.call(new Event('a'), 'b'), { code: 'ERR_INVALID_THIS' })
    assert.equal((event as unknown as Event).type, 'a')
  })

  test('initMessageEvent leaves an event alone that is on its way', () => {
    const target = new EventTarget()
    const event = new MessageEvent('a', { data: 1 })
    target.addEventListener('a', () => event.initMessageEvent('b', true, true, 2))
    target.dispatchEvent(event)
    assert.deepEqual([event.type, event.data], ['a', 1])
  })
})

describe('CloseEvent', () => {
  test('defaults and conversions', () => {
    const { wasClean, code, reason } = new CloseEvent('a')
    assert.deepEqual([wasClean, code, reason], [false, 0, ''])
    const codes: [unknown, number][] = [
      [70_000, 4464],
      [-1, 65_535],
      [65_536, 0],
      [1.9, 1],
      [-1.9, 65_535],
      ['5', 5],
      ['x', 0],
      [null, 0],
      [Number.NaN, 0],
      [Number.POSITIVE_INFINITY, 0],
    ]
    for (const [given, expected] of codes) {
      assert.equal(new CloseEvent('a', { code: given as number }).code, expected, String(given))
    }
    for (const given of [5n, Symbol('x')])
      assert.throws(() => new CloseEvent('a', { code: given as never }), TypeError)
    assert.equal(new CloseEvent('a', { reason: null as never }).reason, 'null')
    assert.equal(new CloseEvent('a', { reason: 'a\udc00' }).reason, 'a\ufffd')
    assert.equal(new CloseEvent('a', { wasClean: 'no' as never }).wasClean, true)
  })
})

describe('ErrorEvent', () => {
  test('defaults and conversions', () => {
    const { message, filename, lineno, colno, error } = new ErrorEvent('a')
    assert.deepEqual([message, filename, lineno, colno, error], ['', '', 0, 0, undefined])
    const made = new ErrorEvent('a', {
      message: '\ud800',
      filename: '\ud800',
      lineno: -1,
      colno: 2 ** 32 + 1,
      error: 5,
    })
    assert.deepEqual(
      [made.message, made.filename, made.lineno, made.colno, made.error],
      ['\ud800', '\ufffd', 4_294_967_295, 1, 5],
    )
    assert.throws(() => new ErrorEvent('a', { message: Symbol('x') as never }), TypeError)
  })
})
