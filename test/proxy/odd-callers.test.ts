/** Functions and dispatchers of a caller that do what they should not: their request fails, and nothing else does. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Dispatcher, errors, ProxyAgent } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startProxy } from './support/test-proxy.ts'

const GET = { origin: 'http://target.test', path: '/', method: 'GET' } as const

/** Not even text can be made of the first. */
const VALUES: readonly [string, unknown][] = [
  ['an object without a prototype', Object.create(null)],
  ['a symbol', Symbol('odd')],
  ['null', null],
  ['undefined', undefined],
  ['a number', 5],
]

/** Settled, with whatever value. */
const settled = (request: Promise<unknown>): Promise<boolean> =>
  request.then(
    () => false,
    () => true,
  )

for (const proxyTunnel of [true, false]) {
  describe(proxyTunnel ? 'tunnels' : 'forwarded requests', () => {
    for (const [what, value] of VALUES) {
      test(`a token that throws or rejects with ${what}`, async (t) => {
        const proxy = await startProxy(t, 'h1')
        for (const token of [
          () => {
            throw value
          },
          () => Promise.reject(value),
        ]) {
          const agent = proxy.agent({ proxyTunnel, token: token as never })
          assert.ok(await settled(agent.request(GET)))
        }
        assert.equal(proxy.sockets.length, 0)
      })

      test(`onProxyResponse that throws or rejects with ${what}`, async (t) => {
        const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 407 }) })
        for (const onProxyResponse of [
          () => {
            throw value
          },
          () => Promise.reject(value),
        ]) {
          const agent = proxy.agent({ proxyTunnel, onProxyResponse: onProxyResponse as never })
          assert.ok(await settled(agent.request(GET)))
        }
      })
    }

    for (const [what, value] of [
      ['a symbol', Symbol('odd')],
      ['a number', 5],
      ['an object', {}],
      ['a line break', 'a\r\nb: c'],
    ] as const) {
      test(`a token that is ${what}`, async (t) => {
        const proxy = await startProxy(t, 'h1')
        for (const token of [() => value, async () => value]) {
          const agent = proxy.agent({ proxyTunnel, token: token as never })
          const error = await failure(agent.request(GET))
          assert.ok(error instanceof errors.InvalidArgumentError, String(error))
        }
        assert.equal(proxy.sockets.length, 0)
      })
    }
  })
}

describe('the connection of a refusal', () => {
  const REFUSAL = 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'
  for (const [what, onProxyResponse] of [
    [
      'throws',
      () => {
        throw new Error('mine')
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
    ['returns nothing', () => null],
    ['returns a number', () => 5],
    ['returns a list of odd length', () => ['x']],
    ['returns a line break', () => ({ 'x-a': 'b\r\nc: d' })],
    ['returns a name that is none', () => ({ 'a b': 'c' })],
  ] as const) {
    test(`is closed when onProxyResponse ${what}`, async (t) => {
      const server = await startScriptedServer(t)
      const agent = new ProxyAgent({
        uri: server.url,
        proxyTunnel: true,
        onProxyResponse: onProxyResponse as never,
      })
      t.after(() => agent.destroy())
      const error = failure(agent.request(GET))
      const peer = await server.accept()
      await peer.head()
      peer.send(REFUSAL)
      assert.ok((await error) instanceof Error)
      await peer.closed()
      assert.equal(server.count, 1)
    })
  }

  for (const how of ['time', 'destroy'] as const) {
    const when = how === 'time' ? 'the answer takes longer than connectTimeout' : 'the agent is destroyed'
    test(`is closed when ${when}`, async (t) => {
      const server = await startScriptedServer(t)
      const asked = deferred()
      const agent = new ProxyAgent({
        uri: server.url,
        proxyTunnel: true,
        connectTimeout: 1000,
        onProxyResponse: () => {
          asked.resolve()
          return new Promise(() => {})
        },
      })
      t.after(() => agent.destroy())
      const clock = how === 'time' ? FakeClock.install(t) : null
      const error = failure(agent.request(GET))
      const peer = await server.accept()
      await peer.head()
      peer.send(REFUSAL)
      await asked.promise
      if (clock === null) await agent.destroy()
      else await clock.advance(1000)
      assert.match(String((await error).code), /CONNECT_TIMEOUT|DESTROYED/)
      await peer.closed()
    })
  }
})

test('a handler that throws when the body of a 407 has not come in time', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent(server.url)
  t.after(() => agent.destroy())
  agent.on('error', () => {})
  const clock = FakeClock.install(t)
  let calls = 0
  agent.dispatch(GET, {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd() {},
    onResponseError() {
      calls++
      throw new Error('thrown by the handler')
    },
  })
  const peer = await server.accept()
  await peer.head()
  peer.send('HTTP/1.1 407 No\r\ncontent-length: 10\r\n\r\npart')
  await eventually(() => [...clock.active].some(({ delay }) => delay === 1000))
  await clock.advance(1000)
  await peer.closed()
  assert.equal(calls, 1)
})

describe('a clientFactory whose dispatcher', () => {
  const DISPATCHERS: readonly [string, (handler: Dispatcher.DispatchHandler) => void][] = [
    [
      'throws null',
      () => {
        throw null
      },
    ],
    ...VALUES.map(([what, value]): [string, (handler: Dispatcher.DispatchHandler) => void] => [
      `fails with ${what}`,
      (handler) => handler.onResponseError?.(null as never, value as Error),
    ]),
    ...VALUES.map(([what, value]): [string, (handler: Dispatcher.DispatchHandler) => void] => [
      `fails with ${what}, later`,
      (handler) => void setImmediate(() => handler.onResponseError?.(null as never, value as Error)),
    ]),
  ]
  for (const [what, act] of DISPATCHERS) {
    for (const proxyTunnel of [true, false]) {
      test(`${what}, ${proxyTunnel ? 'tunnelled' : 'forwarded'}`, async (t) => {
        const agent = new ProxyAgent({
          uri: 'http://proxy.test',
          proxyTunnel,
          clientFactory: () =>
            ({
              dispatch: (_options: unknown, handler: Dispatcher.DispatchHandler) => {
                act(handler)
                return true
              },
              on: () => {},
              close: (done?: () => void) => done?.(),
              destroy: (_error: unknown, done?: () => void) => done?.(),
            }) as never,
        })
        t.after(() => agent.destroy())
        assert.ok(await settled(agent.request(GET)))
        await turns(2)
      })
    }
  }
})
