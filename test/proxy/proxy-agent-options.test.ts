/** The constructor of ProxyAgent: what it refuses, and what the credentials come to on the wire. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  errors,
  fetch,
  Pool,
  ProxyAgent,
  type ProxyAgentOptions,
  type ProxyErrorInfo,
} from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!
const PROXY = 'http://proxy.test:8080'

describe('new ProxyAgent() refuses', () => {
  const PROTOCOL = 'Invalid URL protocol: the URL must start with `http:` or `https:`.'
  for (const [what, argument, message] of [
    ['nothing', undefined, 'Proxy uri is mandatory'],
    ['null', null, 'Proxy uri is mandatory'],
    ['an empty string', '', 'Proxy uri is mandatory'],
    ['options without uri', {}, 'Proxy uri is mandatory'],
    ['options with an empty uri', { uri: '' }, 'Proxy uri is mandatory'],
    ['a scheme that is a host', 'localhost:8080', PROTOCOL],
    ['ftp:', 'ftp://proxy.test', PROTOCOL],
    ['a path', `${PROXY}/path`, 'invalid url'],
    ['a query', `${PROXY}/?q`, 'invalid url'],
    ['a hash', `${PROXY}/#h`, 'invalid url'],
    [
      'clientFactory null',
      { uri: PROXY, clientFactory: null },
      'Proxy opts.clientFactory must be a function.',
    ],
    ['clientFactory 1', { uri: PROXY, clientFactory: 1 }, 'Proxy opts.clientFactory must be a function.'],
    [
      'auth with token',
      { uri: PROXY, auth: 'a', token: 'b' },
      'opts.auth cannot be used in combination with opts.token',
    ],
    ['factory 1', { uri: PROXY, factory: 1 }, 'factory must be a function.'],
    ['connectTimeout -1', { uri: PROXY, connectTimeout: -1 }, 'invalid connectTimeout'],
    ['connectTimeout NaN', { uri: PROXY, connectTimeout: Number.NaN }, 'invalid connectTimeout'],
    ['connect 1', { uri: PROXY, connect: 1 }, 'connect must be a function or an object'],
    ['requestTls 1', { uri: PROXY, requestTls: 1 }, 'requestTls must be an object'],
    ['proxyTls 1', { uri: PROXY, proxyTls: 1 }, 'proxyTls must be an object'],
    [
      'a wrong option of requestTls',
      { uri: PROXY, requestTls: { maxCachedSessions: -1 } },
      'maxCachedSessions must be a positive integer or zero',
    ],
    [
      'a wrong option of proxyTls',
      { uri: PROXY, proxyTls: { maxCachedSessions: -1 } },
      'maxCachedSessions must be a positive integer or zero',
    ],
    ['maxOrigins 0', { uri: PROXY, maxOrigins: 0 }, 'maxOrigins must be a number greater than 0'],
    ['a wrong option of Pool', { uri: PROXY, connections: -1 }, 'invalid connections'],
    [
      'a wrong option of Client',
      { uri: PROXY, bodyTimeout: -1 },
      'bodyTimeout must be a positive integer or zero',
    ],
    ['proxy 1', { uri: PROXY, proxy: 1 }, 'proxy must be a function'],
    ['onProxyResponse 1', { uri: PROXY, onProxyResponse: 1 }, 'onProxyResponse must be a function'],
    ['token 1', { uri: PROXY, token: 1 }, 'token must be a string'],
  ] as const) {
    test(what, () => {
      assert.throws(
        () => new ProxyAgent(argument as unknown as string),
        (error: Error) => {
          assert.ok(error instanceof errors.InvalidArgumentError, String(error))
          assert.equal(error.message, message)
          return true
        },
      )
    })
  }

  for (const [what, argument] of [
    ['a host and a port', '127.0.0.1:8080'],
    ['a number', 8080],
    ['a number as uri', { uri: 8080 }],
  ] as const) {
    test(what, () => {
      assert.throws(() => new ProxyAgent(argument as unknown as string), { code: 'ERR_INVALID_URL' })
    })
  }

  test('user info that is not percent-encoded, and does not show it', () => {
    assert.throws(
      () => new ProxyAgent('http://a%zz:b@proxy.test'),
      (error: Error) => error instanceof errors.InvalidArgumentError && !error.message.includes('zz'),
    )
  })

  test('in this order: uri, clientFactory, URL, auth with token, TLS options, maxOrigins', () => {
    const steps: [Record<string, unknown>, string][] = [
      [{ uri: '' }, 'Proxy uri is mandatory'],
      [{ clientFactory: 1 }, 'Proxy opts.clientFactory must be a function.'],
      [{ uri: 'ftp://p' }, 'Invalid URL protocol: the URL must start with `http:` or `https:`.'],
      [{ auth: 'a', token: 'b' }, 'opts.auth cannot be used in combination with opts.token'],
      [{ requestTls: { maxCachedSessions: -1 } }, 'maxCachedSessions must be a positive integer or zero'],
      [{ maxOrigins: -1 }, 'maxOrigins must be a number greater than 0'],
    ]
    for (const [i, [, message]] of steps.entries()) {
      const options = Object.assign(
        { uri: PROXY },
        ...steps
          .slice(i)
          .map(([wrong]) => wrong)
          .reverse(),
      )
      assert.throws(() => new ProxyAgent(options as ProxyAgentOptions), { message })
    }
  })
})

describe('new ProxyAgent() accepts', () => {
  for (const [what, argument] of [
    ['a string', PROXY],
    ['a URL', new URL(PROXY)],
    ['options with a string', { uri: PROXY }],
    ['options with a URL', { uri: new URL('https://proxy.test') }],
    ['a function in place of uri', { proxy: () => null }],
  ] as const) {
    test(what, async () => {
      await new ProxyAgent(argument).close()
    })
  }
})

describe('the proxy gets', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
  for (const [what, userInfo, options, expected] of [
    ['nothing without credentials', '', {}, undefined],
    ['the token as it is', '', { token: 'Bearer x' }, 'Bearer x'],
    ['auth as Basic', '', { auth: 'eDp5' }, 'Basic eDp5'],
    ['decoded user info', 'us%40er:p%3Ass@', {}, basic('us@er:p:ss')],
    ['user info in UTF-8', 'j%C3%B6rg:%F0%9F%94%91@', {}, basic('jörg:🔑')],
    ['a user alone', 'user@', {}, basic('user:')],
    ['a password alone', ':pass@', {}, basic(':pass')],
    ['the token rather than user info', 'a:b@', { token: 'T' }, 'T'],
    ['auth rather than user info', 'a:b@', { auth: 'eA==' }, 'Basic eA=='],
    ['the token rather than the header', '', { token: 'T', headers: { 'Proxy-Authorization': 'H' } }, 'T'],
    ['user info rather than the header', 'a:b@', { headers: { 'Proxy-Authorization': 'H' } }, basic('a:b')],
    ['the header', '', { headers: { 'Proxy-Authorization': 'H' } }, 'H'],
  ] as const) {
    test(what, async (t) => {
      const origin = await startOrigin(t, H1, echo)
      const proxy = await startProxy(t, 'h1')
      const agent = proxy.agent({ uri: proxy.url.replace('//', `//${userInfo}`), ...options })
      const get = { origin: `http://a.test:${origin.port}`, path: '/', method: 'GET' } as const
      await readEcho(await agent.request(get))
      assert.equal(proxy.forwards[0]!.headers['proxy-authorization'], expected)
      const tunnelling = proxy.agent({
        uri: proxy.url.replace('//', `//${userInfo}`),
        ...options,
        proxyTunnel: true,
      })
      await readEcho(await tunnelling.request(get))
      assert.equal(proxy.connects[0]!.headers['proxy-authorization'], expected)
    })
  }

  test('the headers of the agent, whose object stays as it was', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const headers = Object.freeze({ 'X-One': '1' })
    const agent = proxy.agent({ headers, token: 'T' })
    await readEcho(await agent.request({ origin: `http://a.test:${origin.port}`, path: '/', method: 'GET' }))
    assert.equal(proxy.forwards[0]!.headers['x-one'], '1')
    assert.deepEqual(headers, { 'X-One': '1' })
  })
})

test('host and proxy-connection among the headers of the agent are not sent: each hop writes its own', async (t) => {
  const server = await startScriptedServer(t)
  for (const proxyTunnel of [true, false]) {
    const headers = { Host: 'evil.test', 'Proxy-Connection': 'keep-alive', 'x-own': '1' }
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel, headers })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ origin: 'http://a.test', path: '/', method: 'GET' }))
    const peer = await server.accept()
    const connection = proxyTunnel ? 'close' : 'keep-alive'
    const host = proxyTunnel ? 'a.test:80' : 'a.test'
    assert.deepEqual((await peer.head()).split('\r\n').slice(1), [
      `host: ${host}`,
      `connection: ${connection}`,
      'x-own: 1',
      '',
      '',
    ])
    peer.end()
    await error
  }
})

test('only true switches proxyTunnel on', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  for (const value of [1, 'yes', {}, 'true', null, undefined, false]) {
    const agent = proxy.agent({ proxyTunnel: value as never })
    await readEcho(await agent.request({ origin: origin.url, path: '/', method: 'GET' }))
  }
  assert.deepEqual([proxy.forwards.length, proxy.connects.length], [7, 0])
})

describe('the options of the target side', () => {
  test('the more important is taken: requestTls, then connect, then tls', async (t) => {
    const origin = await startOrigin(t, WIRES[1]!, echo)
    const proxy = await startProxy(t, 'h1')
    const { authority } = await import('../support/certificates.ts')
    const [good, bad] = [{ ca: authority }, { ca: '' }]
    for (const [options, isTrusted] of [
      [{ tls: good }, true],
      [{ tls: good, connect: bad }, false],
      [{ tls: bad, connect: good }, true],
      [{ connect: good, requestTls: bad }, false],
      [{ connect: bad, requestTls: good }, true],
    ] as const) {
      const agent = new ProxyAgent({ uri: proxy.url, ...options } as ProxyAgentOptions)
      t.after(() => agent.destroy())
      const answer = agent.request({ origin: origin.url, path: '/', method: 'GET' })
      if (isTrusted) await readEcho(await answer)
      else assert.equal(((await failure(answer)).proxy as ProxyErrorInfo).phase, 'target-tls')
    }
  })

  test('connect: { ca } holds inside the tunnel', async (t) => {
    const origin = await startOrigin(t, WIRES[1]!, echo)
    const proxy = await startProxy(t, 'h1')
    const { authority } = await import('../support/certificates.ts')
    const agent = new ProxyAgent({ uri: proxy.url, connect: { ca: authority } })
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ origin: origin.url, path: '/', method: 'GET' }))
    assert.equal(proxy.connects.length, 1)
  })

  test('connect as a function opens the connections to the proxy', async (t) => {
    const net = await import('node:net')
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    for (const proxyTunnel of [true, false]) {
      const targets: unknown[] = []
      const agent = new ProxyAgent({
        uri: 'http://elsewhere.test:1',
        proxyTunnel,
        connect: (target, callback) => {
          targets.push([target.hostname, target.port])
          const socket = net.connect(proxy.port, '127.0.0.1', () => callback(null, socket))
        },
      })
      t.after(() => agent.destroy())
      await readEcho(await agent.request({ origin: origin.url, path: '/', method: 'GET' }))
      assert.deepEqual(targets, [['elsewhere.test', '1']])
    }
  })

  test('proxyTls.socketPath leads to a proxy on a Unix socket', {
    skip: process.platform === 'win32' && 'no Unix sockets',
  }, async (t) => {
    const http = await import('node:http')
    const folder = mkdtempSync(join(tmpdir(), 'ventuno-proxy-'))
    const server = http.createServer((request, response) => response.end(request.url))
    const socketPath = join(folder, 'proxy')
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    const agent = new ProxyAgent({ uri: 'http://localhost', proxyTls: { socketPath } })
    t.after(async () => {
      await agent.destroy()
      server.close()
      rmSync(folder, { recursive: true })
    })
    const { body } = await agent.request({ origin: 'http://a.test', path: '/x', method: 'GET' })
    assert.equal(await body.text(), 'http://a.test/x')
  })

  test('factory makes the dispatchers of targets, and gets what opens tunnels', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const made: string[] = []
    const agent = proxy.agent({
      proxyTunnel: true,
      factory: (target, options) => {
        made.push(String(target))
        return new Pool(target, options)
      },
    })
    await readEcho(await agent.request({ origin: origin.url, path: '/', method: 'GET' }))
    assert.deepEqual(made, [origin.url])
    assert.equal(proxy.connects.length, 1)
  })

  test('clientFactory makes the dispatchers to the proxy', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const made: [string, string[]][] = []
    const clientFactory: NonNullable<ProxyAgentOptions['clientFactory']> = (url, options) => {
      made.push([url.origin, Object.keys(options)])
      return new Pool(url, options)
    }
    const get = { origin: origin.url, path: '/', method: 'GET' } as const
    for (const proxyTunnel of [false, true]) {
      await readEcho(await proxy.agent({ clientFactory, proxyTunnel }).request(get))
    }
    assert.deepEqual(made, [
      [proxy.url, ['connect']],
      [proxy.url, ['connect']],
    ])
  })

  test('factories that throw or return nothing fail the request', async (t) => {
    const proxy = await startProxy(t, 'h1')
    const broken = [
      () => {
        throw new Error('mine')
      },
      () => undefined as never,
    ]
    for (const clientFactory of broken) {
      for (const proxyTunnel of [true, false]) {
        const agent = proxy.agent({ clientFactory, proxyTunnel })
        for (let i = 0; i < 2; i++) {
          assert.ok(
            (await failure(
              agent.request({ ...{ path: '/', method: 'GET' }, origin: 'http://a.test' }),
            )) instanceof Error,
          )
        }
        await agent.destroy()
      }
    }
    assert.equal(proxy.sockets.length, 0)
  })

  test('maxResponseSize holds for forwarded requests and inside tunnels', async (t) => {
    const origin = await startOrigin(t, H1, (_request, response) => response.end('too long'))
    const proxy = await startProxy(t, 'h1')
    for (const proxyTunnel of [false, true]) {
      const agent = proxy.agent({ maxResponseSize: 3, proxyTunnel })
      const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
      assert.equal((await failure(body.text())).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    }
  })
})

describe('a request', () => {
  const FORMS: [string, unknown][] = [
    ['an object', { 'proxy-authorization': 'x' }],
    ['an object in another case', { 'Proxy-AUTHORIZATION': 'x' }],
    ['a flat list', ['accept', '*/*', 'Proxy-Authorization', 'x']],
    ['a Map', new Map([['Proxy-Authorization', 'x']])],
    ['Headers', new Headers({ 'proxy-authorization': 'x' })],
    [
      'an iterator',
      (function* () {
        yield ['Proxy-Authorization', 'x']
      })(),
    ],
  ]
  for (const [what, headers] of FORMS) {
    test(`with proxy-authorization in ${what} is refused`, async () => {
      const agent = new ProxyAgent(PROXY)
      const message = 'Proxy-Authorization should be sent in ProxyAgent constructor'
      const options = { origin: 'http://a.test', path: '/', method: 'GET', headers } as never
      assert.throws(() => agent.dispatch(options, { onResponseError() {} }), { message })
      const again = { 'Proxy-authorization': 'x' }
      await assert.rejects(
        agent.request({ origin: 'http://a.test', path: '/', method: 'GET', headers: again }),
        { message },
      )
      await agent.destroy()
    })
  }

  test('with fetch and proxy-authorization is refused', async () => {
    const agent = new ProxyAgent(PROXY)
    const error = await failure(
      fetch('http://a.test', { dispatcher: agent, headers: { 'proxy-authorization': 'x' } }),
    )
    assert.equal(
      (error.cause as Error).message,
      'Proxy-Authorization should be sent in ProxyAgent constructor',
    )
    await agent.destroy()
  })

  test('keeps all values of a repeated name, also from an iterator', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const flat = ['x-name', 'one', 'x-name', 'two']
    function* pairs(): Generator<[string, string]> {
      yield ['x-name', 'one']
      yield ['x-name', 'two']
    }
    for (const proxyTunnel of [false, true]) {
      const agent = proxy.agent({ proxyTunnel })
      for (const headers of [flat, pairs()]) {
        const answer = await agent.request({ origin: origin.url, path: '/', method: 'GET', headers })
        assert.equal((await readEcho(answer)).headers['x-name'], 'one, two')
      }
    }
  })

  for (const origin of ['', null, undefined, 1]) {
    test(`with the origin ${JSON.stringify(origin)} is refused`, async () => {
      const agent = new ProxyAgent(PROXY)
      await assert.rejects(agent.request({ origin: origin as string, path: '/', method: 'GET' }), {
        message: 'opts.origin must be a non-empty string or URL.',
      })
      await agent.destroy()
    })
  }
})
