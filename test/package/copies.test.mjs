// A process with a bundle beside the package has it twice: shared state must exist only once.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { root, run, runScript, usePackage } from './packed.mjs'

/** Both copies, an origin on each wire, and `report` for the results. Each script covers both directions. */
const PRELUDE = `
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { createRequire } from 'node:module'
const required = createRequire(import.meta.url)('ventuno')
const imported = await import('./node_modules/ventuno/dist/esm/index.js')
assert.notEqual(required.Client, imported.Client)
const pairs = [['imported', imported, required], ['required', required, imported]]
const pem = (name) => readFileSync(process.env.CERTS + '/' + name + '.pem', 'utf8')
const identity = { key: pem('localhost-key'), cert: pem('localhost') }
const ca = pem('ca')
const servers = []
async function listen(server) {
  servers.push(server)
  await once(server.listen(0, 'localhost'), 'listening')
  return 'localhost:' + server.address().port
}
const closeAll = () => servers.forEach((server) => server.close())
const answer = (request, response) => request.pipe(response)
const report = (...words) => console.log(...words)
`

describe('the copy for bundlers beside the one for Node.js', () => {
  const { app } = usePackage({ after })
  const env = { ...process.env, CERTS: join(root, 'test', 'support', 'certs') }
  const script = (name, text) => runScript(app, `${name}.mjs`, PRELUDE + text, { env })

  test('global dispatcher: the default is one, and what is set in one is used by the other', () => {
    const output = script(
      'global',
      `
      report(imported.getGlobalDispatcher() === required.getGlobalDispatcher())
      report(imported.getGlobalDispatcher() instanceof required.Agent)
      const origin = 'http://' + (await listen(http.createServer(answer)))
      for (const [name, here, there] of pairs) {
        let seen = 0
        const agent = new here.Agent().compose((dispatch) => (options, handler) => { seen++; return dispatch(options, handler) })
        here.setGlobalDispatcher(agent)
        const { body } = await there.request(origin, { method: 'POST', body: 'a' })
        const response = await there.fetch(origin, { method: 'POST', body: 'b' })
        report(name, there.getGlobalDispatcher() === agent, await body.text(), await response.text(), seen)
        await agent.close()
      }
      closeAll()`,
    )
    assert.deepEqual(output.split('\n'), ['true', 'true', 'imported true a b 2', 'required true a b 2'])
  })

  test('instanceof: a class knows what the other copy made; a subclass only its own', () => {
    const output = script(
      'instances',
      `
      const makers = {
        Agent: ({ Agent }) => new Agent(),
        BalancedPool: ({ BalancedPool }) => new BalancedPool(),
        Client: ({ Client }) => new Client('http://localhost'),
        CloseEvent: ({ CloseEvent }) => new CloseEvent('close'),
        CookieJar: ({ CookieJar }) => new CookieJar(),
        DecoratorHandler: ({ DecoratorHandler }) => new DecoratorHandler({ onRequestStart() {} }),
        Dispatcher: ({ Dispatcher }) => new Dispatcher(),
        Dispatcher1Wrapper: ({ Dispatcher1Wrapper, Agent }) => new Dispatcher1Wrapper(new Agent()),
        ErrorEvent: ({ ErrorEvent }) => new ErrorEvent('error'),
        EnvHttpProxyAgent: ({ EnvHttpProxyAgent }) => new EnvHttpProxyAgent(),
        FormData: ({ FormData }) => new FormData(),
        H2CClient: ({ H2CClient }) => new H2CClient('http://localhost'),
        Headers: ({ Headers }) => new Headers(),
        MessageEvent: ({ MessageEvent }) => new MessageEvent('message'),
        MockAgent: ({ MockAgent }) => new MockAgent(),
        MockCallHistory: ({ MockCallHistory }) => new MockCallHistory(),
        MockClient: ({ MockAgent, MockClient }) => new MockClient('http://localhost', { agent: new MockAgent() }),
        MockPool: ({ MockAgent, MockPool }) => new MockPool('http://localhost', { agent: new MockAgent() }),
        Pool: ({ Pool }) => new Pool('http://localhost'),
        ProxyAgent: ({ ProxyAgent }) => new ProxyAgent('http://localhost'),
        RedisCookieStore: ({ CookieJar, RedisCookieStore }) =>
          new RedisCookieStore(new CookieJar(), { client: { eval() {}, get() {}, set() {}, on() {}, sendCommand() {} } }),
        RedirectHandler: ({ RedirectHandler }) =>
          new RedirectHandler(() => true, 1, { origin: 'http://localhost', path: '/', method: 'GET' }, { onRequestStart() {} }),
        Request: ({ Request }) => new Request('http://localhost'),
        Response: ({ Response }) => new Response(),
        RetryAgent: ({ Agent, RetryAgent }) => new RetryAgent(new Agent()),
        RetryHandler: ({ RetryHandler }) =>
          new RetryHandler({ path: '/', method: 'GET' }, { dispatch: () => true, handler: { onRequestStart() {} } }),
        RoundRobinPool: ({ RoundRobinPool }) => new RoundRobinPool('http://localhost'),
        SnapshotAgent: ({ SnapshotAgent }) => new SnapshotAgent(),
        WebSocketError: ({ WebSocketError }) => new WebSocketError(),
        Socks5ProxyAgent: ({ Socks5ProxyAgent }) => new Socks5ProxyAgent('socks5://localhost'),
      }
      const classes = Object.keys(imported).filter((name) => imported[name].prototype && /^[A-Z]/.test(name))
      // They connect, or are made with each call.
      assert.deepEqual(classes.filter((name) => !makers[name]), ['EventSource', 'MockCallHistoryLog', 'WebSocket', 'WebSocketStream'])
      const dispatchers = ['Agent', 'BalancedPool', 'Client', 'Dispatcher1Wrapper', 'EnvHttpProxyAgent', 'H2CClient', 'MockAgent', 'MockClient', 'MockPool', 'Pool', 'ProxyAgent', 'RetryAgent', 'RoundRobinPool', 'SnapshotAgent', 'Socks5ProxyAgent']
      for (const [name, here, there] of pairs) {
        for (const [kind, make] of Object.entries(makers)) {
          const made = make(there)
          const matches = classes.filter((other) => made instanceof here[other])
          const expected = classes.filter((other) => made instanceof there[other])
          assert.deepEqual(matches, expected, kind)
          assert.ok(matches.includes(kind), kind)
          assert.equal(matches.includes('Dispatcher'), dispatchers.includes(kind) || kind === 'Dispatcher', kind)
        }
        class OwnAgent extends here.Agent {}
        assert.ok(!(new there.Agent() instanceof OwnAgent))
        assert.ok(new OwnAgent() instanceof there.Agent && new OwnAgent() instanceof OwnAgent)
        for (const value of [null, undefined, 1, 'x', {}, here.Client, Object.create(null)]) {
          assert.ok(!(value instanceof here.Client))
        }
        class OwnRequest extends here.Request {}
        assert.ok(!(new there.Request('http://localhost') instanceof OwnRequest))
        report(name)
      }`,
    )
    assert.equal(output, 'imported\nrequired')
  })

  test('errors: what one throws is known by the classes of the other', () => {
    const output = script(
      'errors',
      `
      for (const [name, here, there] of pairs) {
        const client = new here.Client('http://localhost')
        await client.destroy()
        const error = await client.request({ path: '/', method: 'GET' }).catch((error) => error)
        report(name, error instanceof there.errors.ClientDestroyedError, error instanceof there.errors.UndiciError)
        for (const [kind, Class] of Object.entries(here.errors)) {
          assert.ok(new Class('x') instanceof there.errors[kind], kind)
        }
      }`,
    )
    assert.deepEqual(output.split('\n'), ['imported true true', 'required true true'])
  })

  for (const [wire, [server, scheme, factory]] of Object.entries({
    h1: ['http.createServer(answer)', 'http', 'Client'],
    'h1 over TLS': ['https.createServer(identity, answer)', 'https', 'Client'],
    'h2 over TLS': ['http2.createSecureServer(identity, answer)', 'https', 'Client'],
    h2c: ['http2.createServer(answer)', 'http', 'H2CClient'],
  })) {
    test(`${wire}: a pool of one with clients of the other`, () => {
      const output = script(
        `pool-${scheme}-${factory}-${wire.length}`,
        `
        const origin = '${scheme}://' + (await listen(${server}))
        for (const [name, here, there] of pairs) {
          const pools = {
            Pool: new here.Pool(origin, { connections: 1, connect: { ca }, factory: (url, options) => new there.${factory}(url, options) }),
            Agent: new here.Agent({ connect: { ca }, factory: (url, options) => new there.Pool(url, {
              ...options, factory: (url, options) => new there.${factory}(url, options),
            }) }),
          }
          for (const [kind, pool] of Object.entries(pools)) {
            const send = async (body, more) => {
              const response = await pool.request({ origin, path: '/', method: 'POST', body, ...more })
              return response.body.text()
            }
            const large = 'x'.repeat(300_000)
            assert.deepEqual(await Promise.all([send('a'), send(large), send('c')]), ['a', large, 'c'])
            // A refused request leaves the member free for the next.
            const error = await send('d', { headers: { 'bad name': 'x' } }).catch((error) => error)
            assert.equal(error.code, 'UND_ERR_INVALID_ARG')
            report(name, kind, await send('e'), JSON.stringify(Object.values(pool.stats)[0]?.running ?? pool.stats.running))
            await pool.close()
          }
        }
        closeAll()`,
      )
      assert.deepEqual(output.split('\n'), [
        'imported Pool e 0',
        'imported Agent e 0',
        'required Pool e 0',
        'required Agent e 0',
      ])
    })
  }

  test('an agent forgets an origin whose pool of the other copy has nothing left', () => {
    const output = script(
      'idle-pool',
      `
      const origin = 'http://' + (await listen(http.createServer((_, response) => response.end('x'))))
      for (const [name, here, there] of pairs) {
        const agent = new here.Agent({ factory: (url, options) => new there.Pool(url, options) })
        const { body } = await agent.request({ origin, path: '/', method: 'GET', reset: true })
        const gone = once(agent, 'disconnect')
        await body.text()
        await gone
        await new Promise(setImmediate)
        report(name, Object.keys(agent.stats).length)
        await agent.close()
      }
      closeAll()`,
    )
    assert.deepEqual(output.split('\n'), ['imported 0', 'required 0'])
  })

  test('fetch, Request and WebSocket of one on a dispatcher of the other', () => {
    const output = script(
      'web',
      `
      import { createHash } from 'node:crypto'
      const server = http.createServer(answer)
      server.on('upgrade', (request, socket) => {
        const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
        socket.write('HTTP/1.1 101 x\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nsec-websocket-accept: ' + accept.digest('base64') + '\\r\\n\\r\\n')
        // The server answers a ping with a message, and closes.
        socket.on('data', (bytes) => {
          if ((bytes[0] & 15) === 9) socket.write(Buffer.from([0x81, 1, 0x70, 0x88, 0]))
        })
        socket.on('error', () => {})
      })
      const host = await listen(server)
      for (const [name, here, there] of pairs) {
        let seen = 0
        const count = (dispatch) => (options, handler) => { seen++; return dispatch(options, handler) }
        const agent = new there.Agent()
        const dispatcher = agent.compose(count)
        const first = await here.fetch('http://' + host, { method: 'POST', body: 'a', dispatcher })
        const plain = await here.fetch('http://' + host, { method: 'POST', body: 'b', dispatcher: agent })
        // Created by one copy with a dispatcher, fetched by the other.
        const request = new there.Request('http://' + host, { method: 'POST', body: 'c', dispatcher })
        const kept = await here.fetch(request)
        report(name, await first.text(), await plain.text(), await kept.text(), seen)
        const socket = new here.WebSocket('ws://' + host, { dispatcher })
        await once(socket, 'open')
        there.ping(socket)
        const [message] = await once(socket, 'message')
        report(message.data, message instanceof there.MessageEvent, socket instanceof there.WebSocket, seen)
        await once(socket, 'close')
        await agent.close()
      }
      closeAll()`,
    )
    const each = ['a b c 2', 'p true true 3']
    assert.deepEqual(output.split('\n'), [`imported ${each[0]}`, each[1], `required ${each[0]}`, each[1]])
  })

  test('interceptors and handlers of one on a dispatcher of the other', () => {
    const output = script(
      'handlers',
      `
      const origin = 'http://' + (await listen(http.createServer(answer)))
      for (const [name, here, there] of pairs) {
        class Upper extends here.DecoratorHandler {
          onResponseData(controller, chunk) { super.onResponseData(controller, Buffer.from(String(chunk).toUpperCase())) }
        }
        const client = new there.Client(origin)
        const composed = client.compose((dispatch) => (options, handler) => dispatch(options, new Upper(handler)))
        const { body } = await here.request(origin, { method: 'POST', body: 'hello', dispatcher: composed })
        const wrapped = new here.Dispatcher1Wrapper(client)
        const again = await wrapped.request({ path: '/', method: 'POST', body: 'again' })
        report(name, await body.text(), await again.body.text())
        await client.close()
      }
      closeAll()`,
    )
    assert.deepEqual(output.split('\n'), ['imported HELLO again', 'required HELLO again'])
  })

  test('diagnostics channels are the same, and the debug output is written once', () => {
    const text = `${PRELUDE}
      import { subscribe } from 'node:diagnostics_channel'
      const origin = 'http://' + (await listen(http.createServer(answer)))
      let heard = 0
      subscribe('undici:request:create', () => { heard++ })
      for (const [, here] of pairs) {
        const client = new here.Client(origin)
        await (await client.request({ path: '/', method: 'GET' })).body.text()
        await client.close()
      }
      report(heard)
      closeAll()`
    const file = join(app, 'debug.mjs')
    assert.equal(runScript(app, 'debug.mjs', text, { env }), '2')
    const lines = run('sh', ['-c', `"${process.execPath}" "${file}" 2>&1 >/dev/null`], {
      cwd: app,
      env: { ...env, RUNTIME_DEBUG: 'core' },
    })
    const kinds = lines.match(
      /(connecting to|connected to|sending request|received response|trailers received)/g,
    )
    // Two requests, each with a separate connection.
    assert.deepEqual(
      kinds.toSorted(),
      ['connected to', 'connecting to', 'received response', 'sending request', 'trailers received'].flatMap(
        (kind) => [kind, kind],
      ),
    )
  })

  test('install() of both, and one global origin', () => {
    const output = script(
      'install',
      `
      const origin = 'http://' + (await listen(http.createServer(answer)))
      for (const [name, here, there] of [...pairs, ...pairs]) {
        here.setGlobalOrigin(origin)
        assert.equal(there.getGlobalOrigin().href, origin + '/')
        here.install()
        assert.equal(globalThis.fetch, here.fetch)
        const headers = new Headers({ a: 'b' })
        const response = await fetch(new Request(origin, { method: 'POST', body: 'x', headers }))
        report(name, await response.text(), response instanceof there.Response, headers instanceof there.Headers)
      }
      await imported.getGlobalDispatcher().close()
      closeAll()`,
    )
    const each = ['imported x true true', 'required x true true']
    assert.deepEqual(output.split('\n'), [...each, ...each])
  })
})
