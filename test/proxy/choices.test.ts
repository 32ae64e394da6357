/** What programs add to a proxy agent: tokens that change, other schemes, a choice of proxies. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { ProxyAgent, type ProxyErrorInfo } from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { authority } from '../support/certificates.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { OK } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { type Asked, startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!
const GET = { path: '/', method: 'GET' } as const
const tokenOf = ({ headers }: Asked): unknown => headers['proxy-authorization']

for (const proxyTunnel of [true, false]) {
  const asked = proxyTunnel ? 'connects' : 'forwards'
  describe(`token as a function, ${proxyTunnel ? 'for tunnels' : 'for forwarded requests'}`, () => {
    for (const [what, wrap] of [
      ['returns', (text: string) => text],
      ['resolves with', async (text: string) => text],
    ] as const) {
      test(`${what} the value for each`, async (t) => {
        const origin = await startOrigin(t, H1, echo)
        const proxy = await startProxy(t, 'h1')
        let count = 0
        const agent = proxy.agent({ proxyTunnel, pipelining: 0, token: () => wrap(`T${++count}`) })
        for (let i = 0; i < 2; i++) await readEcho(await agent.request({ ...GET, origin: origin.url }))
        assert.deepEqual(proxy[asked].map(tokenOf), ['T1', 'T2'])
      })
    }

    test('is asked once more after a 407', async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const proxy = await startProxy(t, 'h1', {
        judge: (request) => (tokenOf(request) === 'T2' ? null : { status: 407, body: 'no' }),
      })
      let count = 0
      const agent = proxy.agent({ proxyTunnel, token: () => `T${++count}` })
      await readEcho(await agent.request({ ...GET, origin: origin.url, method: 'POST', body: 'x' }))
      assert.deepEqual(proxy[asked].map(tokenOf), ['T1', 'T2'])
    })

    test('and not a second time', async (t) => {
      const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 407, body: 'no' }) })
      let count = 0
      const agent = proxy.agent({ proxyTunnel, token: () => `T${++count}` })
      const error = await failure(agent.request({ ...GET, origin: 'http://a.test' }))
      assert.equal((error.proxy as ProxyErrorInfo).statusCode, 407)
      assert.equal(count, 2)
    })

    for (const [what, token, message] of [
      [
        'throws',
        () => {
          throw new Error('mine')
        },
        'mine',
      ],
      [
        'rejects',
        async () => {
          throw new Error('mine')
        },
        'mine',
      ],
      ['returns something else', () => 1 as never, 'token must be a string'],
      ['returns a line break', () => 'a\r\nb', 'invalid proxy-authorization header'],
    ] as const) {
      test(`that ${what} fails the request`, async (t) => {
        const proxy = await startProxy(t, 'h1')
        const agent = proxy.agent({ proxyTunnel, token })
        assert.equal((await failure(agent.request({ ...GET, origin: 'http://a.test' }))).message, message)
        assert.equal(proxy.sockets.length, 0)
      })
    }

    test('that never answers leaves the request to its signal', async (t) => {
      const proxy = await startProxy(t, 'h1')
      const agent = proxy.agent({ proxyTunnel, token: () => new Promise<string>(() => {}) })
      const controller = new AbortController()
      const error = failure(agent.request({ ...GET, origin: 'http://a.test', signal: controller.signal }))
      await new Promise(setImmediate)
      controller.abort()
      assert.equal((await error).name, 'AbortError')
      await agent.destroy()
    })

    test('that never answers leaves the request to its body, which is destroyed with it', async (t) => {
      const proxy = await startProxy(t, 'h1')
      const agent = proxy.agent({ proxyTunnel, token: () => new Promise<string>(() => {}) })
      const options = { ...GET, origin: 'http://a.test', method: 'POST' } as const
      const [failing, given] = [new PassThrough(), new PassThrough()]
      const handler = new RecordingHandler()
      agent.dispatch({ ...options, body: failing }, handler)
      await new Promise(setImmediate)
      const error = new Error('the file is gone')
      assert.deepEqual(await uncaughtDuring(() => failing.destroy(error)), [])
      assert.deepEqual(handler.errors, [error])
      const last = new RecordingHandler()
      agent.dispatch({ ...options, body: given }, last)
      assert.deepEqual(await uncaughtDuring(() => agent.destroy()), [])
      await last.settled
      assert.equal(given.destroyed, true)
    })

    test('that rejects calls the handler once, whatever that throws', async (t) => {
      const proxy = await startProxy(t, 'h1')
      const agent = proxy.agent({ proxyTunnel, token: async () => Promise.reject(new Error('mine')) })
      agent.on('error', () => {})
      const calls: string[] = []
      const handler = {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd() {},
        onResponseError(_controller: unknown, error: Error) {
          calls.push(error.message)
          throw new Error('thrown by the handler')
        },
      }
      agent.dispatch({ ...GET, origin: 'http://a.test' }, handler)
      for (let i = 0; i < 5; i++) await new Promise(setImmediate)
      assert.deepEqual(calls, ['mine'])
    })

    test('close() waits for its answer', async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const proxy = await startProxy(t, 'h1')
      const token = deferred<string>()
      const agent = proxy.agent({ proxyTunnel, token: () => token.promise })
      const answer = agent.request({ ...GET, origin: origin.url })
      await new Promise(setImmediate)
      const closed = agent.close()
      token.resolve('T')
      await readEcho(await answer)
      await closed
    })

    test('that answers after destroy() has no effect', async (t) => {
      const proxy = await startProxy(t, 'h1')
      const token = deferred<string>()
      const agent = proxy.agent({ proxyTunnel, token: () => token.promise })
      const error = failure(agent.request({ ...GET, origin: 'http://a.test' }))
      await new Promise(setImmediate)
      const destroyed = agent.destroy()
      token.resolve('T')
      assert.equal((await error).code, 'UND_ERR_DESTROYED')
      await destroyed
      assert.equal(proxy.sockets.length, 0)
    })
  })
}

test('a token as a function is not asked again after another refusal than 407', async (t) => {
  const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 403 }) })
  let asked = 0
  const agent = proxy.agent({ proxyTunnel: true, token: () => `T${++asked}` })
  const error = await failure(agent.request({ ...GET, origin: 'http://target.test' }))
  assert.equal((error.proxy as ProxyErrorInfo).statusCode, 403)
  assert.deepEqual([asked, proxy.connects.length], [1, 1])
})

describe('onProxyResponse', () => {
  test('answers a challenge on the same connection, step by step', async (t) => {
    const server = await startScriptedServer(t)
    const seen: unknown[] = []
    const agent = new ProxyAgent({
      uri: server.url,
      proxyTunnel: true,
      onProxyResponse: async ({ statusCode, headers, body }) => {
        seen.push([statusCode, headers['proxy-authenticate'], body])
        return { 'proxy-authorization': `NTLM step${seen.length}` }
      },
    })
    t.after(() => agent.destroy())
    const answer = agent.request({ ...GET, origin: 'http://target.test' })
    const peer = await server.accept()
    assert.match(
      await peer.head(),
      /^CONNECT target\.test:80 HTTP\/1\.1\r\nhost: target\.test:80\r\nconnection: keep-alive\r\n\r\n$/,
    )
    peer.send('HTTP/1.1 407 No\r\nproxy-authenticate: NTLM\r\ncontent-length: 3\r\n\r\none')
    assert.match(await peer.head(), /\r\nproxy-authorization: NTLM step1\r\n/)
    peer.send(
      'HTTP/1.1 407 No\r\nproxy-authenticate: NTLM c2\r\ntransfer-encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n',
    )
    assert.match(await peer.head(), /\r\nproxy-authorization: NTLM step2\r\n/)
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    assert.match(await peer.head(), /^GET \/ /)
    peer.send(OK)
    assert.equal(await (await answer).body.text(), 'ok')
    assert.deepEqual(seen, [
      [407, 'NTLM', 'one'],
      [407, 'NTLM c2', 'two'],
    ])
    assert.equal(server.count, 1)
  })

  test('gets another connection where the proxy closes', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({
      uri: server.url,
      proxyTunnel: true,
      onProxyResponse: () => ({ 'x-again': '1' }),
    })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
    const first = await server.accept()
    await first.head()
    // It may take its time to close.
    first.send('HTTP/1.1 407 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    const second = await server.accept()
    assert.match(await second.head(), /\r\nx-again: 1\r\n/)
    second.end()
    assert.equal((await error).message, 'Proxy Connection failed')
  })

  test('that returns nothing leaves the refusal', async (t) => {
    const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 403 }) })
    const agent = proxy.agent({ proxyTunnel: true, onProxyResponse: () => null })
    const error = await failure(agent.request({ ...GET, origin: 'http://target.test' }))
    assert.equal((error.proxy as ProxyErrorInfo).statusCode, 403)
    assert.equal(proxy.connects.length, 1)
  })

  test('that never gives up is asked a few times', async (t) => {
    for (const [wire, proxyTunnel] of [
      ['h1', true],
      ['h2+tls', true],
      ['h1', false],
    ] as const) {
      const proxy = await startProxy(t, wire, { judge: () => ({ status: 407 }) })
      let count = 0
      const agent = proxy.agent({
        proxyTunnel,
        onProxyResponse: () => (++count < 20 ? { 'x-try': String(count) } : null),
      })
      const error = await failure(agent.request({ ...GET, origin: 'http://target.test' }))
      assert.equal(error.code, 'UND_ERR_PRX_CONN')
      assert.equal([...proxy.connects, ...proxy.forwards].length, 5)
    }
  })

  test('its proxy-connection is not sent: HTTP/2 forbids it', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    for (const wire of ['h1', 'h2+tls'] as const) {
      const proxy = await startProxy(t, wire, {
        judge: ({ headers }) => (headers['x-try'] === '1' ? null : { status: 407 }),
      })
      const agent = proxy.agent({
        proxyTunnel: true,
        onProxyResponse: () => ({ 'x-try': '1', 'Proxy-Connection': 'keep-alive' }),
      })
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      assert.equal(proxy.connects.at(-1)!.headers['proxy-connection'], undefined)
    }
  })

  test('that throws fails the request', async (t) => {
    const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 407 }) })
    const mine = new Error('mine')
    for (const proxyTunnel of [true, false]) {
      const agent = proxy.agent({
        proxyTunnel,
        onProxyResponse: () => {
          throw mine
        },
      })
      assert.equal((await failure(agent.request({ ...GET, origin: 'http://target.test' }))).message, 'mine')
    }
  })

  test('answers a 407 to a forwarded request', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1', {
      judge: (request) => (tokenOf(request) === 'Digest x' ? null : { status: 407, body: 'no' }),
    })
    const agent = proxy.agent({ onProxyResponse: () => ({ 'proxy-authorization': 'Digest x' }) })
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.deepEqual(proxy.forwards.map(tokenOf), [undefined, 'Digest x'])
  })

  const form = new FormData()
  form.set('name', 'value')
  for (const [what, body, sent] of [
    ['a Blob', new Blob(['some ', 'text']), /^some text$/],
    ['a File', new File(['some text'], 'name.txt'), /^some text$/],
    ['FormData', form, /name="name"\r\n\r\nvalue\r\n/],
    ['an array', ['some ', 'text'], /^some text$/],
    ['an iterable that begins anew', { [Symbol.asyncIterator]: pieces }, /^some text$/],
  ] as const) {
    test(`answers a 407 to a forwarded request whose body is ${what}`, async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const proxy = await startProxy(t, 'h1', {
        judge: (request) => (tokenOf(request) === 'Digest x' ? null : { status: 407, body: 'no' }),
      })
      const agent = proxy.agent({ onProxyResponse: () => ({ 'proxy-authorization': 'Digest x' }) })
      const answer = await agent.request({ ...GET, method: 'PUT', origin: origin.url, body: body as never })
      assert.match((await readEcho(answer)).body, sent)
    })
  }
})

async function* pieces(): AsyncGenerator<string> {
  yield 'some '
  yield 'text'
}

describe('proxy as a function', () => {
  test('chooses by origin, and null is a direct connection', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const one = await startProxy(t, 'h1')
    const two = await startProxy(t, 'h1+tls')
    const asked: string[] = []
    const agent = new ProxyAgent({
      proxyTls: { ca: authority },
      headers: { 'x-proxy': '1' },
      token: 'T',
      proxy: (target) => {
        asked.push(target)
        return target.includes('one') ? one.url : target.includes('two') ? new URL(two.url) : null
      },
    })
    t.after(() => agent.destroy())
    const names = [`http://one.test:${origin.port}`, `http://two.test:${origin.port}`]
    for (const target of names) await readEcho(await agent.request({ ...GET, origin: target }))
    const { headers } = await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.deepEqual(asked, [...names, origin.url])
    assert.deepEqual([one.forwards.length, two.forwards.length], [1, 1])
    assert.equal(headers['x-proxy'], undefined)
    assert.equal(headers['proxy-authorization'], undefined)
  })

  for (const proxyTunnel of [true, false]) {
    test(`a list: the next after one that cannot be reached, ${proxyTunnel ? 'tunnelled' : 'forwarded'}`, async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const dead = await refusingPort(t)
      const proxy = await startProxy(t, 'h1')
      const agent = new ProxyAgent({
        proxyTunnel,
        proxy: () => [`http://127.0.0.1:${dead}`, proxy.url],
      })
      t.after(() => agent.destroy())
      const answer = await agent.request({ ...GET, origin: origin.url, method: 'POST', body: 'x' })
      assert.equal((await readEcho(answer)).body, 'x')
      assert.ok(proxy.servedAll(origin))
    })
  }

  test('a list: the next after a refused CONNECT, and the last error counts', async (t) => {
    const first = await startProxy(t, 'h1', { judge: () => ({ status: 503 }) })
    const second = await startProxy(t, 'h1', { judge: () => ({ status: 403 }) })
    const agent = new ProxyAgent({ proxy: () => [first.url, second.url] })
    t.after(() => agent.destroy())
    const error = await failure(agent.request({ ...GET, origin: 'https://target.test' }))
    assert.equal((error.proxy as ProxyErrorInfo).statusCode, 403)
    assert.equal(first.connects.length, 1)
  })

  test('a list: no other for a forwarded stream, which ends with its request', async (t) => {
    const dead = `http://127.0.0.1:${await refusingPort(t)}`
    const alive = await startProxy(t, 'h1')
    const agent = new ProxyAgent({ proxy: () => [dead, alive.url] })
    t.after(() => agent.destroy())
    const body = new PassThrough()
    const error = await failure(agent.request({ ...GET, method: 'PUT', origin: 'http://a.test', body }))
    assert.equal(error.code, 'ECONNREFUSED')
    assert.equal(alive.sockets.length, 0)
  })

  test('a list: the next for a forwarded generator that nobody has begun to read', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const dead = `http://127.0.0.1:${await refusingPort(t)}`
    const alive = await startProxy(t, 'h1')
    const agent = new ProxyAgent({ proxy: () => [dead, alive.url] })
    t.after(() => agent.destroy())
    const body = (async function* () {
      yield 'part'
    })()
    const answer = await agent.request({ ...GET, method: 'PUT', origin: origin.url, body })
    assert.equal((await readEcho(answer)).body, 'part')
  })

  test('a list: no other after a request that may have been processed', async (t) => {
    const server = await startScriptedServer(t)
    const second = await startProxy(t, 'h1')
    const agent = new ProxyAgent({ proxy: () => [server.url, second.url] })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ ...GET, origin: 'http://target.test', method: 'POST', body: 'x' }))
    const peer = await server.accept()
    await peer.head()
    peer.end()
    assert.equal((await error).message, 'other side closed')
    assert.equal(second.sockets.length, 0)
  })

  test('that rejects fails the request, and not the process', async (t) => {
    const agent = new ProxyAgent({ proxy: (() => Promise.reject(new Error('late'))) as never })
    t.after(() => agent.destroy())
    await assert.rejects(agent.request({ ...GET, origin: 'http://a.test' }), {
      message: 'proxy must return a URL, a list of URLs, or null',
    })
  })

  for (const [what, answer] of [
    ['nothing', undefined],
    ['an empty list', []],
    ['an empty string', ''],
    ['a list with a hole', ['http://a.test', '']],
  ] as const) {
    test(`that returns ${what} fails the request rather than let it go direct`, async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const agent = new ProxyAgent({ proxy: () => answer as never })
      t.after(() => agent.destroy())
      await assert.rejects(agent.request({ ...GET, origin: origin.url }), {
        message: 'proxy must return a URL, a list of URLs, or null',
      })
      assert.equal(origin.sockets.length, 0)
    })
  }

  test('that throws fails the request', async (t) => {
    const agent = new ProxyAgent({
      proxy: () => {
        throw new Error('mine')
      },
    })
    t.after(() => agent.destroy())
    await assert.rejects(agent.request({ ...GET, origin: 'http://a.test' }), { message: 'mine' })
  })

  test('a proxy that changes with each request does not fill memory', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    let count = 0
    const agent = new ProxyAgent({ proxy: () => proxy.url.replace('//', `//user${++count}@`) })
    t.after(() => agent.destroy())
    for (let i = 0; i < 150; i++) await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.ok(agent.stats.proxy.connected <= 100, String(agent.stats.proxy.connected))
    await agent.close()
  })
})
