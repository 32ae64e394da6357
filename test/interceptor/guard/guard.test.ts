import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  Agent,
  type DispatchOptions,
  errors,
  fetch,
  type GuardInterceptorOptions,
  type GuardPolicy,
  type GuardTarget,
  interceptors,
} from '../../../src/index.ts'
import { ScriptedDispatcher } from '../../api/scripted-dispatcher.ts'
import { echo, failure, readEcho } from '../../support/exchange.ts'
import { RecordingHandler } from '../../support/recording-handler.ts'
import { startOrigin } from '../../support/wire.ts'
import { composedAgent, overTwoWires } from '../two-wires.ts'

const GET = { path: '/', method: 'GET' } as const

/** The rule that refuses a request; null if it is dispatched. */
function ruleFor(
  options: GuardPolicy | GuardInterceptorOptions | null | undefined,
  opts: Partial<DispatchOptions>,
): string | null {
  let dispatched = false
  const dispatch = interceptors.guard(options)(() => (dispatched = true))
  const handler = new RecordingHandler()
  assert.equal(dispatch({ ...GET, ...opts }, handler), true)
  assert.equal(handler.story.length, dispatched ? 0 : 1)
  return dispatched ? null : (handler.error as errors.BlockedAddressError).rule
}

describe('options', () => {
  test('none is public-only', () => {
    for (const options of [undefined, null, {}, 'public-only'] as const) {
      assert.equal(ruleFor(options, { origin: 'http://127.0.0.1' }), 'loopback')
      assert.equal(ruleFor(options, { origin: 'http://example.com' }), null)
    }
    assert.equal(ruleFor('any', { origin: 'http://127.0.0.1' }), null)
  })

  for (const [options, message] of [
    [7, "guard must be 'public-only', 'any' or an object"],
    [{ schemes: 'https' }, "schemes of a guard must be an array of 'http' and 'https'"],
    [{ schemes: ['ftp'] }, "schemes of a guard must be an array of 'http' and 'https'"],
    [{ strict: true }, 'strict is for the guard of a connector: use connect.guard'],
    [{ resolve: true }, 'resolve is for the guard of a connector: use connect.guard'],
    [{ scheme: ['https'] }, 'unknown option of a guard: scheme'],
    [{ deny: ['a b'] }, 'invalid entry in deny of a guard: a b'],
  ] as const) {
    test(`refuses ${JSON.stringify(options)}`, () => {
      assert.throws(() => interceptors.guard(options as never), { name: 'InvalidArgumentError', message })
    })
  }
})

describe('what a request names', () => {
  for (const [options, origin, rule] of [
    [{ schemes: ['https'] }, 'http://example.com', 'scheme'],
    [{ schemes: ['https'] }, 'https://example.com', null],
    [{}, 'ftp://example.com', 'scheme'],
    [{}, 'localhost:3000', 'scheme'],
    [{}, 'nonsense', 'ambiguous-url'],
    [{}, 'https://example.com:6667', 'bad-port'],
    [{ ports: [443] }, 'https://example.com', null],
    [{ ports: [443] }, 'https://example.com:8443', 'ports'],
    [{ hosts: ['.example.com'] }, 'https://a.example.com', null],
    [{ hosts: ['.example.com'] }, 'https://example.org', 'hosts'],
    [{ deny: ['example.com'] }, 'https://EXAMPLE.com.', 'deny'],
    [{ deny: ['93.184.216.0/24'] }, 'https://93.184.216.34', 'deny'],
    [{}, 'http://localhost', 'local-name'],
    [{}, 'http://metadata.google.internal', 'local-name'],
    [{}, 'http://router', 'local-name'],
    [{}, 'http://user@0x7f.1', 'loopback'],
    [{}, 'http://[::ffff:7f00:1]', 'loopback'],
    [{}, 'http://example.com@127.0.0.1', 'loopback'],
    [{ allow: ['localhost:3000'] }, 'http://localhost:3000', null],
    [{ allow: ['localhost:3000'] }, 'http://localhost:3001', 'local-name'],
    [{ allow: ['127.0.0.1'] }, 'http://127.0.0.1:3001', null],
  ] as const) {
    test(`${origin} with ${JSON.stringify(options)}`, () => {
      assert.equal(ruleFor(options as never, { origin }), rule)
      if (URL.canParse(origin)) assert.equal(ruleFor(options as never, { origin: new URL(origin) }), rule)
    })
  }

  test('the target of an absolute URL as path, and of CONNECT, is checked as well', () => {
    const origin = 'http://example.com'
    for (const [opts, rule] of [
      [{ path: '/http://127.0.0.1/' }, null],
      [{ path: 'http://example.org/x' }, null],
      [{ path: 'http://127.0.0.1/' }, 'loopback'],
      [{ path: 'http://example.org\\@127.0.0.1/' }, 'ambiguous-url'],
      [{ path: 'http://0x7f.1/' }, 'ambiguous-url'],
      [{ path: '*', method: 'OPTIONS' }, null],
      [{ path: 'example.org:443', method: 'CONNECT' }, null],
      [{ path: '127.0.0.1:443', method: 'CONNECT' }, 'loopback'],
      [{ path: 'localhost:443', method: 'CONNECT' }, 'local-name'],
      [{ path: 'example.org:22', method: 'CONNECT' }, 'bad-port'],
      [{ path: 'a@127.0.0.1:443', method: 'CONNECT' }, 'ambiguous-url'],
      [{ path: '/', method: 'CONNECT' }, null],
    ] as const) {
      assert.equal(ruleFor({}, { origin, ...opts }), rule, opts.path)
    }
  })

  test('a dispatcher with upstreams of its own gets requests without an origin', () => {
    assert.equal(ruleFor({}, {}), null)
    assert.equal(ruleFor({}, { path: 'http://127.0.0.1/' }), 'loopback')
  })

  test('calls that are wrong are for the dispatcher', () => {
    let calls = 0
    const dispatch = interceptors.guard()(() => ++calls > 0)
    dispatch(null as never, new RecordingHandler())
    dispatch(GET, null as never)
    dispatch({ ...GET, path: 7 as never }, new RecordingHandler())
    assert.equal(calls, 3)
  })
})

test('check is asked for each request, with the name', () => {
  const seen: GuardTarget[] = []
  const check = (target: GuardTarget): boolean => seen.push(target) === 1
  const dispatch = interceptors.guard({ check })(() => true)
  const handlers = [new RecordingHandler(), new RecordingHandler()]
  for (const handler of handlers) dispatch({ ...GET, origin: 'https://example.com' }, handler)
  assert.deepEqual(seen[0], { hostname: 'example.com', address: null, family: 0, port: 443 })
  assert.equal(handlers[0]!.error, undefined)
  assert.equal((handlers[1]!.error as errors.BlockedAddressError).rule, 'check')
})

test('verdicts are remembered for a few origins only', () => {
  const dispatch = interceptors.guard()(() => true)
  for (let i = 0; i < 600; i++)
    dispatch({ ...GET, origin: `https://host-${i % 400}.example` }, new RecordingHandler())
  const handler = new RecordingHandler()
  dispatch({ ...GET, origin: 'http://127.0.0.1' }, handler)
  dispatch({ ...GET, origin: 'http://127.0.0.1' }, handler)
  assert.deepEqual(handler.story, ['onResponseError', 'onResponseError'])
})

test('the error has the context of the request, without the query', async () => {
  const agent = new Agent().compose(interceptors.guard())
  const body = new Readable({ read() {} })
  const error = await failure(
    agent.request({ origin: 'http://10.0.0.1:8080', path: '/x?secret=1', method: 'POST', body }),
  )
  assert.ok(error instanceof errors.BlockedAddressError)
  const { code, rule, method, origin, path, phase, retrySafety, reusedSocket, socket, address } = error
  assert.deepEqual(
    { code, rule, method, origin, path, phase, retrySafety, reusedSocket, socket, address },
    {
      code: 'UND_ERR_BLOCKED_ADDRESS',
      rule: 'private',
      method: 'POST',
      origin: 'http://10.0.0.1:8080',
      path: '/x',
      phase: 'queued',
      retrySafety: 'safe',
      reusedSocket: false,
      socket: null,
      address: '10.0.0.1',
    },
  )
  assert.equal(body.destroyed, true)
  await agent.close()
})

test('an exception of the handler reaches the caller of dispatch, and nothing else', async () => {
  const dispatch = interceptors.guard()(() => assert.fail('dispatched'))
  const handler = new RecordingHandler({
    onResponseError: () => {
      throw new Error('mine')
    },
  })
  assert.throws(() => dispatch({ ...GET, origin: 'http://127.0.0.1' }, handler), { message: 'mine' })
  await nextTurn()
})

test('it is refused without a look at the dispatcher', () => {
  const dispatcher = new ScriptedDispatcher()
  const composed = dispatcher.compose(interceptors.guard())
  const handler = new RecordingHandler()
  composed.dispatch({ ...GET, origin: 'http://127.0.0.1' }, handler)
  assert.equal((handler.error as errors.BlockedAddressError).rule, 'loopback')
  assert.equal(dispatcher.exchanges.length, 0)
})

overTwoWires('redirects', (wire) => {
  test('each goes through a guard that comes before redirect in compose', async (t) => {
    const evil = await startOrigin(t, wire, echo)
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/end') echo(request, response)
      else response.writeHead(302, { location: request.url === '/good' ? '/end' : `${evil.url}/` }).end()
    })
    const guard = interceptors.guard({ allow: [`localhost:${origin.port}`] })
    const redirect = interceptors.redirect({ maxRedirections: 3 })
    const agent = composedAgent(t, wire, guard, redirect)
    const { url } = await readEcho(await agent.request({ ...GET, origin: origin.url, path: '/good' }))
    assert.equal(url, '/end')
    const error = await failure(agent.request({ ...GET, origin: origin.url, path: '/evil' }))
    assert.deepEqual([error['code'], error['hostname']], ['UND_ERR_BLOCKED_ADDRESS', 'localhost'])
    const rejected = await failure(fetch(`${origin.url}/evil`, { dispatcher: agent }))
    assert.ok(rejected.cause instanceof errors.BlockedAddressError)
    assert.equal(evil.sockets.length, 0)

    // The other way round it sees only the first URL.
    const outside = composedAgent(t, wire, redirect, guard)
    await readEcho(await outside.request({ ...GET, origin: origin.url, path: '/evil' }))
    assert.equal(evil.sockets.length, 1)
  })

  test('with interceptors.dns it goes by the name and by the address, on either side', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dns = interceptors.dns({
      lookup: (_origin, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    const inside = composedAgent(
      t,
      wire,
      interceptors.guard({ deny: ['evil.test'], allow: ['127.0.0.1', 'good.test'] }),
      dns,
    )
    for (const [host, ok] of [
      ['good.test', true],
      ['evil.test', false],
    ] as const) {
      const asked = inside.request({ ...GET, origin: `http://${host}:${origin.port}` })
      if (ok) await readEcho(await asked)
      else assert.equal((await failure(asked))['rule'], 'deny')
    }
    const strict = composedAgent(t, wire, interceptors.guard({ allow: ['good.test'] }), dns)
    const error = await failure(strict.request({ ...GET, origin: `http://good.test:${origin.port}` }))
    assert.equal(error['rule'], 'loopback')
  })
})
