/** Events, stats, close, destroy and diagnostics of ProxyAgent: as of an agent, for tunnels and forwarded requests. */
import assert from 'node:assert/strict'
import diagnosticsChannel from 'node:diagnostics_channel'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Client, errors, Pool, ProxyAgent } from '../../src/index.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!
const H2_TLS = WIRES[2]!
const GET = { path: '/', method: 'GET' } as const

function record(agent: ProxyAgent): [string, string, unknown[]][] {
  const events: [string, string, unknown[]][] = []
  for (const name of ['connect', 'disconnect', 'connectionError', 'drain'] as const) {
    agent.on(name, (url: URL, targets: readonly unknown[]) => {
      const kinds = targets.map((target) =>
        target === agent
          ? 'agent'
          : target instanceof Pool
            ? 'pool'
            : target instanceof Client
              ? 'client'
              : '?',
      )
      events.push([name, url.origin, kinds])
    })
  }
  return events
}

for (const proxyWire of PROXY_WIRES) {
  describe(`an agent with a proxy over ${proxyWire}`, () => {
    test('emits the events of its targets', async (t) => {
      const origin = await startOrigin(t, H2_TLS, echo)
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent()
      const events = record(agent)
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      const targets = ['agent', 'pool', 'client']
      assert.deepEqual(events[0], ['connect', origin.url, targets])
      const disconnected = once(agent, 'disconnect')
      for (const socket of origin.sockets) socket.destroy()
      await disconnected
      assert.deepEqual(
        events.filter(([name]) => name === 'disconnect'),
        [['disconnect', origin.url, targets]],
      )
    })

    test('emits connectionError when the proxy refuses', async (t) => {
      const proxy = await startProxy(t, proxyWire, { judge: () => ({ status: 403 }) })
      const agent = proxy.agent()
      const failed = once(agent, 'connectionError')
      const error = await failure(agent.request({ ...GET, origin: 'https://target.test' }))
      const [url, targets, reported] = (await failed) as [URL, unknown[], Error & { proxy: object }]
      assert.equal(url.origin, 'https://target.test')
      assert.equal(targets[0], agent)
      assert.equal(reported.message, error.message)
      assert.deepEqual(reported.proxy, error['proxy'])
    })

    test('forgets origins without connections, and has stats of the others and of the proxy', async (t) => {
      const origin = await startOrigin(t, H2_TLS, echo)
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent()
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      assert.deepEqual(Object.keys(agent.stats), [origin.url, 'proxy'])
      assert.deepEqual(Object.keys(agent.stats.proxy).sort(), [
        'connected',
        'free',
        'pending',
        'queued',
        'running',
        'size',
      ])
      assert.equal(agent.stats.proxy.connected, proxyWire === 'h2+tls' ? 1 : 0)
      for (const socket of origin.sockets) socket.destroy()
      await eventually(() => Object.keys(agent.stats).length === 1)
    })

    test('close() waits for requests, then leaves no connection', async (t) => {
      const mayAnswer = deferred()
      const origin = await startOrigin(t, H2_TLS, async (_request, response) => {
        await mayAnswer.promise
        response.end('ok')
      })
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent()
      const answer = agent.request({ ...GET, origin: origin.url })
      await eventually(() => origin.sockets.length === 1)
      const closed = agent.close()
      assert.equal((await failure(agent.request({ ...GET, origin: origin.url }))).code, 'UND_ERR_CLOSED')
      mayAnswer.resolve()
      assert.equal(await (await answer).body.text(), 'ok')
      await closed
      await eventually(() => proxy.tunnels.size === 0 && proxy.sockets.every(({ destroyed }) => destroyed))
    })

    test('destroy(error) fails all with that error, and leaves no connection', async (t) => {
      const origin = await startOrigin(t, H2_TLS, () => {})
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent()
      const first = failure(agent.request({ ...GET, origin: origin.url }))
      await eventually(() => origin.sockets.length === 1)
      const second = failure(agent.request({ ...GET, origin: 'https://a.example.test:1' }))
      const third = failure(agent.request({ ...GET, origin: `http://b.test:${origin.port}` }))
      const reason = new Error('over')
      await agent.destroy(reason)
      assert.deepEqual(await Promise.all([first, second, third]), [reason, reason, reason])
      await eventually(() => proxy.sockets.every(({ destroyed }) => destroyed))
      const late = await failure(agent.request({ ...GET, origin: origin.url }))
      assert.ok(late instanceof errors.ClientDestroyedError)
    })
  })
}

test('destroy() while CONNECT is under way closes its connection', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
  const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
  const peer = await server.accept()
  await peer.head()
  await agent.destroy()
  assert.ok((await error) instanceof errors.ClientDestroyedError)
  await peer.closed()
})

test('destroy() while TLS inside is under way closes the tunnel', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent(server.url)
  const error = failure(agent.request({ ...GET, origin: 'https://target.test' }))
  const peer = await server.accept()
  await peer.head()
  peer.send('HTTP/1.1 200 OK\r\n\r\n')
  await eventually(() => peer.received.length > 0)
  await agent.destroy()
  assert.ok((await error) instanceof errors.ClientDestroyedError)
  await peer.closed()
})

test('drain follows each false of dispatch', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  for (const proxyTunnel of [false, true]) {
    const agent = proxy.agent({ connections: 1, proxyTunnel })
    const drained = once(agent, 'drain')
    const needsDrain = (): unknown => Reflect.get(agent, 'needsDrain')
    assert.equal(needsDrain(), false)
    const handler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {},
      onResponseError() {},
    }
    assert.equal(agent.dispatch({ ...GET, origin: origin.url }, handler), false)
    assert.equal(needsDrain(), true)
    const [, targets] = (await drained) as [URL, [unknown, Pool]]
    assert.equal(needsDrain(), false)
    // Other events of its pools are passed on.
    const events: unknown[] = []
    agent.on('ping', (milliseconds) => events.push(milliseconds))
    agent.on('error', (error) => events.push(error))
    targets[1].emit('ping', 5)
    targets[1].emit('error', 'thrown')
    assert.deepEqual(events, [5, 'thrown'])
  }
})

test('close() lets queued requests open tunnels', async (t) => {
  const mayAnswer = deferred()
  const origin = await startOrigin(t, H1, async (_request, response) => {
    await mayAnswer.promise
    response.writeHead(200, { connection: 'close' }).end('ok')
  })
  const proxy = await startProxy(t, 'h1')
  const agent = proxy.agent({ proxyTunnel: true, connections: 1 })
  const answers = [1, 2].map(async () => {
    const { body } = await agent.request({ ...GET, origin: origin.url })
    return body.text()
  })
  await eventually(() => origin.sockets.length === 1)
  const closed = agent.close()
  mayAnswer.resolve()
  assert.deepEqual(await Promise.all(answers), ['ok', 'ok'])
  assert.equal(proxy.connects.length, 2)
  await closed
})

test('forwarded requests: the events of the proxy', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  const agent = proxy.agent()
  const events = record(agent)
  await readEcho(await agent.request({ ...GET, origin: origin.url }))
  assert.deepEqual(events[0], ['connect', proxy.url, ['agent', 'pool', 'client']])
  assert.equal(agent.stats.proxy.connected, 1)
})

test('undici:proxy:connected tells of each tunnel, without the credentials', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  const messages: { socket: unknown; connectParams: Record<string, unknown> }[] = []
  const listen = (message: unknown): void => void messages.push(message as (typeof messages)[0])
  diagnosticsChannel.subscribe('undici:proxy:connected', listen)
  t.after(() => diagnosticsChannel.unsubscribe('undici:proxy:connected', listen))
  const agent = proxy.agent({ proxyTunnel: true, token: 'Bearer secret', headers: { 'x-own': '1' } })
  await readEcho(await agent.request({ ...GET, origin: `http://a.test:${origin.port}` }))
  assert.equal(messages.length, 1)
  assert.equal(typeof (messages[0]!.socket as { write: unknown }).write, 'function')
  assert.deepEqual(messages[0]!.connectParams, {
    origin: proxy.url,
    port: String(proxy.port),
    path: `a.test:${origin.port}`,
    headers: { host: `a.test:${origin.port}`, 'x-own': '1', 'proxy-authorization': '***' },
    servername: 'localhost',
  })
})

test('an idle agent does not keep the process alive', async (t) => {
  const { execFile } = await import('node:child_process')
  const { fileURLToPath } = await import('node:url')
  const { authority } = await import('../support/certificates.ts')
  const plain = await startOrigin(t, H1, echo)
  const secure = await startOrigin(t, H2_TLS, echo)
  const proxies = await Promise.all(PROXY_WIRES.map((wire) => startProxy(t, wire)))
  const index = sourceUrl('src/index.ts')
  const program = `
    const { ProxyAgent } = await import(${JSON.stringify(index)})
    const tls = { ca: ${JSON.stringify(authority)} }
    for (const uri of ${JSON.stringify(proxies.map(({ url }) => url))}) {
      const agent = new ProxyAgent({
        uri, proxyTunnel: true, proxyTls: tls, requestTls: tls, keepAliveTimeout: 600e3, keepAliveTimeoutThreshold: -600e3,
      })
      for (const origin of ${JSON.stringify([plain.url, secure.url])}) {
        const { body } = await agent.request({ origin, path: '/', method: 'GET' })
        await body.text()
      }
      if (Object.keys(agent.stats).length !== 3) throw new Error('tunnels are not kept')
    }
    console.log('done')`
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const args = [...sourceLoader, '--input-type=module', '--eval', program]
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, args, { cwd, timeout: 20_000 }, (error, stdout) => {
      if (error) reject(error)
      else resolve(stdout)
    })
  })
  assert.equal(output.trim(), 'done')
})
