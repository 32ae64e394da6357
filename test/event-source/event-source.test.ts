import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  Agent,
  ErrorEvent,
  EventSource,
  errors,
  MessageEvent,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
  Socks5ProxyAgent,
  setGlobalOrigin,
} from '../../src/index.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { overEachWire } from '../support/wire.ts'
import { ended, h1, lines, listen, lost, setStage, status, stream } from './stage.ts'

const EVENT_STREAM = { 'content-type': 'text/event-stream' }

describe('the constructor', () => {
  test('refuses arguments', () => {
    assert.throws(() => Reflect.construct(EventSource, []), {
      name: 'TypeError',
      message: 'EventSource constructor: 1 argument required, but 0 found.',
    })
    for (const url of ['nope', '/relative', '', 'http://']) {
      assert.throws(() => new EventSource(url), { name: 'SyntaxError', code: 12 }, url)
    }
    for (const init of [5, { node: 5 }]) {
      assert.throws(() => new EventSource('http://localhost', init as never), {
        name: 'TypeError',
        message: 'EventSource constructor: Expected 5 to be one of: Null, Undefined, Object.',
      })
    }
    for (const init of [null, undefined, { node: null }]) {
      new EventSource('http://localhost', init as never).close()
    }
  })

  test('refuses options under node', () => {
    for (const [name, value] of [
      ...[-1, 1.5, '3', Number.NaN].map((value) => ['maxRetries', value]),
      ...[-1, Infinity, 'x'].map((value) => ['maxReconnectionTime', value]),
      ...[-1, Infinity, 'x'].map((value) => ['idleTimeout', value]),
      ...[true, 'never', 0].map((value) => ['reconnect', value]),
      ...[429, ['429'], {}].map((value) => ['retryStatus', value]),
      ['backoff', 1],
      ['shouldReconnect', true],
      ['lastEventId', 7],
      ['dispatcher', {}],
    ] as [string, unknown][]) {
      assert.throws(() => new EventSource('http://localhost', { node: { [name]: value } }), {
        code: 'UND_ERR_INVALID_ARG',
        message: `invalid ${name}`,
      })
    }
    for (const [node, message] of [
      [{ signal: {} }, 'signal must be an EventEmitter or EventTarget'],
      [{ onEvent: 5 }, 'onEvent must be a function'],
      [{ method: 'a b' }, "'a b' is not a valid HTTP method."],
      [{ body: 'x' }, 'Request with GET/HEAD method cannot have body.'],
      [{ headers: { 'a b': 'c' } }, 'Headers.append: "a b" is an invalid header name.'],
    ] as const) {
      assert.throws(() => new EventSource('http://localhost', { node: node as never }), { message })
    }
  })

  test('ignores a polluted Object.prototype', async (t) => {
    const stage = await setStage(t, h1, [stream()])
    const polluted = { method: 'POST', lastEventId: '9', headers: { 'x-evil': '1' }, withCredentials: true }
    Object.assign(Object.prototype, polluted)
    t.after(() => {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
    })
    const { source, log } = listen(t, stage, '/')
    await lines(log, 1)
    const { method, headers } = stage.requests[0]!
    assert.equal(method, 'GET')
    assert.deepEqual([headers['x-evil'], headers['last-event-id']], [undefined, undefined])
    assert.equal(source.withCredentials, false)
  })

  test('reads a URL relative to the global origin', async (t) => {
    const stage = await setStage(t, h1, [stream()])
    setGlobalOrigin(stage.url)
    t.after(() => setGlobalOrigin(undefined))
    const source = new EventSource('/path#fragment', { node: { dispatcher: stage.agent } })
    t.after(() => source.close())
    assert.equal(source.url, `${stage.url}/path#fragment`)
    await once(source, 'open')
    assert.equal(stage.requests[0]!.url, '/path')
  })
})

describe('the members', () => {
  const source = new EventSource('http://user:secret@localhost:1/a b', { withCredentials: 1 as never })
  source.close()

  test('are those of the interface', () => {
    assert.equal(Object.prototype.toString.call(source), '[object EventSource]')
    assert.equal(EventSource.name, 'EventSource')
    assert.equal(source.url, 'http://user:secret@localhost:1/a%20b')
    assert.equal(source.withCredentials, true)
    assert.equal(source.readyState, 2)
    const states = { CONNECTING: 0, OPEN: 1, CLOSED: 2 } as const
    for (const [name, value] of Object.entries(states)) {
      for (const holder of [EventSource, EventSource.prototype]) {
        assert.deepEqual(Object.getOwnPropertyDescriptor(holder, name), {
          value,
          writable: false,
          enumerable: true,
          configurable: false,
        })
      }
    }
    assert.ok(source instanceof EventSource && source instanceof EventTarget)
    for (const name of ['url', 'readyState', 'withCredentials', 'onopen', 'onmessage', 'onerror', 'close']) {
      assert.ok(Object.getOwnPropertyDescriptor(EventSource.prototype, name)!.enumerable, name)
    }
  })

  test('handlers are functions or objects, else null', () => {
    for (const name of ['onopen', 'onmessage', 'onerror'] as const) {
      for (const value of [() => {}, {}, { handleEvent() {} }]) {
        source[name] = value as never
        assert.equal(source[name], value)
      }
      for (const value of [5, 'x', null, undefined]) {
        source[name] = value as never
        assert.equal(source[name], null)
      }
    }
  })

  test('nothing warns', async (t) => {
    const warnings: Error[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    new EventSource('http://localhost:1').close()
    await turns(3)
    assert.deepEqual(warnings, [])
  })
})

overEachWire('a stream', (wire) => {
  test('opens, and its events fire as they come', async (t) => {
    const stage = await setStage(t, wire, [stream('data: 1\n\n')])
    const { source, log } = listen(t, stage, '/events')
    assert.equal(source.readyState, 0)
    assert.deepEqual(await lines(log, 2), ['open 1', 'message 1'])
    const named = once(source, 'error')
    stage.responses[0]!.write('event: error\nid: 7\ndata: 2\n\n')
    const [event] = (await named) as [MessageEvent]
    assert.ok(event instanceof MessageEvent)
    assert.deepEqual([event.data, event.lastEventId, event.origin], ['2', '7', stage.url])
    assert.equal(source.lastEventId, '7')
    const { method, headers } = stage.requests[0]!
    assert.equal(method, 'GET')
    assert.equal(headers.accept, 'text/event-stream')
    assert.equal(headers.pragma, 'no-cache')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(headers['last-event-id'], undefined)
    assert.equal(headers['authorization'], undefined)
  })

  test('is asked for again when it ends or is lost, with the last id', async (t) => {
    const answers = [ended('retry: 0\nid: ä\ndata: 1\n\n'), lost('id: 2\ndata: 2\n\n'), lost(), stream()]
    const stage = await setStage(t, wire, answers)
    const { log, errors: events } = listen(t, stage, '/')
    await lines(log, 8)
    assert.deepEqual(log, [
      ...['open 1', 'message 1', 'error 0'],
      ...['open 1', 'message 2', 'error 0'],
      ...['error 0', 'open 1'],
    ])
    const ids = stage.requests.map(({ headers }) => headers['last-event-id'])
    assert.deepEqual(ids, [undefined, Buffer.from('ä').toString('latin1'), '2', '2'])
    assert.deepEqual(
      events.map(({ willReconnect, delay, attempt }) => [willReconnect, delay, attempt]),
      [
        [true, 10, 1],
        [true, 100, 1],
        [true, 100, 2],
      ],
    )
    assert.equal(events[0]!.error, null)
    assert.ok(events[1]!.error instanceof Error)
    assert.ok(events.every((event) => event instanceof ErrorEvent && event.statusCode === null))
  })

  test('close() in a listener: nothing after it, and the server sees the end', async (t) => {
    const closed: string[] = []
    const stage = await setStage(t, wire, [
      (response) => {
        response.on('close', () => closed.push('closed'))
        stream('data: 1\n\ndata: 2\n\n')(response, response.req)
      },
    ])
    const { source, log } = listen(t, stage, '/')
    source.addEventListener('message', () => source.close())
    await lines(log, 2)
    assert.equal(source.readyState, 2)
    await eventually(() => closed.length === 1)
    assert.deepEqual(log, ['open 1', 'message 1'])
  })

  test('refused: closed for good, and the event explains it', async (t) => {
    const explanation = JSON.stringify({ error: 'no token' })
    const headers = { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'], 'x-id': '9' }
    const stage = await setStage(t, wire, [status(401, headers, explanation)])
    const { source, log, errors: events } = listen(t, stage, '/')
    await lines(log, 1)
    const event = events[0]!
    assert.deepEqual(log, ['error 2'])
    assert.equal(event.statusCode, 401)
    assert.equal(event.headers!['x-id'], '9')
    assert.deepEqual(event.headers!['set-cookie'], ['a=1', 'b=2'])
    assert.equal(event.body, explanation)
    assert.deepEqual([event.willReconnect, event.delay, event.attempt], [false, null, 1])
    assert.ok(event.error instanceof errors.ResponseError)
    assert.equal(event.message, 'Expected status 200, received 401')
    assert.equal(source.readyState, 2)
  })
})

describe('a response', () => {
  for (const type of [
    'text/event-stream',
    'Text/Event-Stream',
    'text/event-stream; charset=utf-8',
    'text/event-stream;x="y z"',
  ]) {
    test(`of type ${type} is a stream`, async (t) => {
      const stage = await setStage(t, h1, [
        (response) => response.writeHead(200, { 'content-type': type }).write(':\n'),
      ])
      const { log } = listen(t, stage, '/')
      assert.deepEqual(await lines(log, 1), ['open 1'])
    })
  }

  for (const [name, code, headers] of [
    ['of another type', 200, { 'content-type': 'text/plain' }],
    ['without a type', 200, {}],
    ['with two types', 200, { 'content-type': ['text/event-stream', 'text/event-stream'] }],
    ['that is empty', 204, EVENT_STREAM],
    ['201', 201, EVENT_STREAM],
    ['that redirects nowhere', 302, EVENT_STREAM],
    ['404', 404, EVENT_STREAM],
    ['500', 500, EVENT_STREAM],
  ] as const) {
    test(`${name} ends it`, async (t) => {
      const clock = FakeClock.install(t)
      const stage = await setStage(t, h1, [status(code, headers as never)])
      const { source, log, errors: events } = listen(t, stage, '/')
      assert.deepEqual(await lines(log, 1), ['error 2'])
      assert.equal(source.readyState, 2)
      assert.equal(events[0]!.statusCode, code)
      await clock.advance(100_000)
      assert.equal(stage.requests.length, 1)
    })
  }

  test('whose explanation is long or never ends does not keep the caller waiting', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [
      status(500, {}, 'x'.repeat(100_000)),
      (response) => response.writeHead(500).write('first'),
    ])
    const first = listen(t, stage, '/')
    await lines(first.log, 1)
    assert.equal(first.errors[0]!.body!.length, 65_536)
    assert.equal((first.errors[0]!.error as errors.ResponseError).bodyTruncated, true)

    const second = listen(t, stage, '/')
    await eventually(() => stage.requests.length === 2)
    await eventually(() => [...clock.active].some(({ delay }) => delay === 1000))
    await turns(20)
    await clock.advance(1000)
    await lines(second.log, 1)
    assert.deepEqual([second.errors[0]!.statusCode, second.errors[0]!.body], [500, 'first'])
  })

  test('that is compressed is decoded', async (t) => {
    const stage = await setStage(t, h1, [
      (response) =>
        response
          .writeHead(200, { ...EVENT_STREAM, 'content-encoding': 'gzip' })
          .end(gzipSync('data: zipped\n\n')),
    ])
    const { log } = listen(t, stage, '/')
    assert.deepEqual((await lines(log, 2)).slice(0, 2), ['open 1', 'message zipped'])
  })

  test('in a data: URL is a stream', async (t) => {
    const source = new EventSource('data:text/event-stream,data:%20hi%0A%0A')
    t.after(() => source.close())
    const [event] = (await once(source, 'message')) as [MessageEvent]
    assert.deepEqual([event.data, event.origin, event.lastEventId], ['hi', 'null', ''])
  })
})

describe('a redirect', () => {
  test('is followed; the next attempt starts at the first URL', async (t) => {
    const other = await setStage(t, h1, [ended('retry: 0\ndata: 1\n\n')])
    const stage = await setStage(t, h1, [status(307, { location: `${other.url}/there` }), stream()])
    const origins: string[] = []
    const { source, log } = listen(t, stage, '/here')
    source.addEventListener('message', ({ origin }) => origins.push(origin))
    await lines(log, 4)
    assert.deepEqual(log, ['open 1', 'message 1', 'error 0', 'open 1'])
    assert.deepEqual(origins, [other.url])
    assert.deepEqual([stage.requests.length, other.requests.length], [2, 1])
    assert.equal(source.url, `${stage.url}/here`)
  })

  test('without an end is a failure after 20', async (t) => {
    const answers = Array(21).fill(status(302, { location: '/again' }))
    const stage = await setStage(t, h1, answers)
    const { log, errors: events } = listen(t, stage, '/')
    assert.deepEqual(await lines(log, 1), ['error 0'])
    assert.equal(stage.requests.length, 21)
    assert.equal(events[0]!.willReconnect, true)
  })
})

describe('credentials of the URL', () => {
  test('are sent once the server asks for them, and then at once', async (t) => {
    const unauthorized = status(401, { 'www-authenticate': 'Basic' })
    const stage = await setStage(t, h1, [unauthorized, ended('retry: 0\ndata: 1\n\n'), stream()])
    const url = stage.url.replace('//', '//us%20er:pässword@')
    const source = new EventSource(url, { node: { dispatcher: stage.agent } })
    t.after(() => source.close())
    await once(source, 'error')
    await once(source, 'open')
    const credentials = `Basic ${Buffer.from('us er:pässword').toString('base64')}`
    assert.deepEqual(
      stage.requests.map(({ headers }) => headers.authorization),
      [undefined, credentials, credentials],
    )
  })

  test('are not sent twice, nor to another origin', async (t) => {
    const unauthorized = status(401)
    const other = await setStage(t, h1, [unauthorized])
    const stage = await setStage(t, h1, [
      unauthorized,
      unauthorized,
      status(307, { location: `${other.url}/` }),
    ])
    for (let i = 0; i < 2; i++) {
      const url = stage.url.replace('//', '//user:secret@')
      const source = new EventSource(url, { node: { dispatcher: stage.agent } })
      t.after(() => source.close())
      await once(source, 'error')
      assert.equal(source.readyState, 2)
    }
    assert.equal(stage.requests.length, 3)
    assert.deepEqual(
      other.requests.map(({ headers }) => headers.authorization),
      [undefined],
    )
  })
})

describe('close()', () => {
  test('before the response', async (t) => {
    const stage = await setStage(t, h1, [() => {}])
    const { source, log } = listen(t, stage, '/')
    await eventually(() => stage.requests.length === 1)
    const gone = once(stage.responses[0]!, 'close')
    source.close()
    await gone
    await turns(5)
    assert.deepEqual([source.readyState, log], [2, []])
  })

  test('while it waits for the next attempt leaves no timer', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [ended()])
    const delay = 1234
    const { source, log } = listen(t, stage, '/', { reconnectionTime: delay })
    await lines(log, 2)
    await turns(2)
    assert.ok([...clock.active].some((timer) => timer.delay === delay))
    source.close()
    assert.ok(![...clock.active].some((timer) => timer.delay === delay))
    await clock.advance(delay)
    assert.deepEqual([stage.requests.length, log], [1, ['open 1', 'error 0']])
  })

  for (const name of ['open', 'error'] as const) {
    test(`in ${name}`, async (t) => {
      const clock = FakeClock.install(t)
      const stage = await setStage(t, h1, [ended('data: 1\n\n')])
      const { source, log } = listen(t, stage, '/')
      source.addEventListener(name, () => source.close())
      await lines(log, name === 'open' ? 1 : 3)
      await clock.advance(100_000)
      assert.equal(source.readyState, 2)
      assert.equal(log.length, name === 'open' ? 1 : 3)
      assert.equal(stage.requests.length, 1)
    })
  }

  test('by Symbol.dispose', { skip: !('dispose' in Symbol) && 'the runtime has no such symbol' }, (t) => {
    const source = new EventSource('http://localhost:1')
    t.after(() => source.close())
    ;(source as unknown as Record<symbol, () => void>)[(Symbol as never as { dispose: symbol }).dispose]!()
    assert.equal(source.readyState, 2)
  })
})

describe('a failure before the response', () => {
  test('reconnects, and the event has the error of the network', async (t) => {
    const port = await refusingPort(t)
    const agent = new Agent()
    t.after(() => agent.destroy())
    const source = new EventSource(`http://127.0.0.1:${port}`, { dispatcher: agent })
    t.after(() => source.close())
    const [event] = (await once(source, 'error')) as [ErrorEvent]
    assert.equal((event.error as { code: string }).code, 'ECONNREFUSED')
    assert.equal(source.readyState, 0)
  })

  test('by a time limit reconnects', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [() => {}], { headersTimeout: 1000 })
    const { log, errors: events } = listen(t, stage, '/')
    await eventually(() => stage.requests.length === 1)
    await turns(5)
    await clock.advance(1000)
    await lines(log, 1)
    assert.equal((events[0]!.error as { code: string }).code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.deepEqual(log, ['error 0'])
  })

  test('bodyTimeout ends a silent stream, and it reconnects', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [stream('data: 1\n\n')], { bodyTimeout: 1000 })
    const { log, errors: events } = listen(t, stage, '/')
    await lines(log, 2)
    await turns(5)
    await clock.advance(1000)
    await lines(log, 3)
    assert.equal((events[0]!.error as { code: string }).code, 'UND_ERR_BODY_TIMEOUT')
    assert.equal(log[2], 'error 0')
  })
})

describe('maxEventSize', () => {
  test('is an option of the dispatchers, with 16 MiB as the default', () => {
    const agent = new Agent({ eventSource: { maxEventSize: 5 } })
    assert.deepEqual(agent.eventSourceOptions, { maxEventSize: 5 })
    assert.deepEqual(new Agent({ eventSource: null }).eventSourceOptions, new Agent().eventSourceOptions)
    assert.equal(new Agent().eventSourceOptions.maxEventSize, 16_777_216)
    for (const other of [
      new Pool('http://a.test', { eventSource: { maxEventSize: 5 } }),
      new ProxyAgent({ uri: 'http://a.test', eventSource: { maxEventSize: 5 } }),
      new Socks5ProxyAgent('socks5://a.test', { eventSource: { maxEventSize: 5 } }),
      new RetryAgent(agent),
      new MockAgent({ agent }),
    ]) {
      assert.deepEqual(other.eventSourceOptions, { maxEventSize: 5 }, other.constructor.name)
    }
    for (const maxEventSize of [-1, 1.5, '5', Number.NaN]) {
      assert.throws(() => new Agent({ eventSource: { maxEventSize: maxEventSize as number } }), {
        code: 'UND_ERR_INVALID_ARG',
        message: 'invalid eventSource.maxEventSize',
      })
    }
  })

  test('an event over it closes for good', async (t) => {
    const stage = await setStage(t, h1, [stream('data: 1234\n\n', 'data: 12345\n\n', 'data: 1\n\n')], {
      eventSource: { maxEventSize: 4 },
    })
    const { source, log, errors: events } = listen(t, stage, '/')
    await lines(log, 3)
    assert.deepEqual(log, ['open 1', 'message 1234', 'error 2'])
    assert.equal(source.readyState, 2)
    assert.equal((events[0]!.error as Error).message, 'Event exceeds maxEventSize')
    assert.equal(events[0]!.willReconnect, false)
  })

  test('a dispatcher without the option has the default', async (t) => {
    const stage = await setStage(t, h1, [stream('data: 1\n\n')])
    const { agent } = stage
    const plain = { dispatch: agent.dispatch.bind(agent) }
    const { log } = listen(t, stage, '/', { dispatcher: plain })
    assert.deepEqual(await lines(log, 2), ['open 1', 'message 1'])
  })
})

describe('a listener that throws', () => {
  test('is an uncaught exception, and the stream goes on', async (t) => {
    const stage = await setStage(t, h1, [stream('data: 1\n\ndata: 2\n\n')])
    const thrown: Error[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => thrown.push(error))
    t.after(() => {
      process.removeAllListeners('uncaughtException')
      for (const listener of listeners) process.on('uncaughtException', listener)
    })
    const onEvent = (): void => {
      throw new Error('onEvent')
    }
    const { source, log } = listen(t, stage, '/', { onEvent })
    source.addEventListener('message', () => {
      throw new Error('listener')
    })
    await lines(log, 3)
    await eventually(() => thrown.length === 4)
    assert.deepEqual(log, ['open 1', 'message 1', 'message 2'])
    assert.deepEqual(thrown.map(({ message }) => message).sort(), [
      'listener',
      'listener',
      'onEvent',
      'onEvent',
    ])
  })
})
