import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  type AgentOptions,
  Client,
  type DnsAddress,
  type DnsLookup,
  errors,
  fetch,
  interceptors,
} from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { overEachWire, startOrigin, type TestOrigin, type Wire, wireOptions } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

const LOCAL: DnsAddress = { address: '127.0.0.1', family: 4 }

function to(...addresses: DnsAddress[]): DnsLookup {
  return (_origin, _options, callback) => callback(null, addresses)
}

function named(origin: TestOrigin, name: string, wire: Wire): string {
  return `${wire.secure ? 'https' : 'http'}://${name}:${origin.port}`
}

function agentFor(t: TestContext, wire: Wire, lookup: DnsLookup): { agent: Agent; composed: Agent } {
  const agent = new Agent(wireOptions(wire) as AgentOptions)
  t.after(() => agent.destroy())
  return { agent, composed: agent.compose(interceptors.dns({ lookup })) }
}

overEachWire('interceptors.dns', (wire) => {
  test('sends the name to the address', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const { composed } = agentFor(t, wire, to(LOCAL))
    const opts = { origin: named(origin, 'a.example.test', wire), path: '/', method: 'POST', body: 'x' }
    const { headers, body } = await readEcho(await composed.request(opts))
    const host = `a.example.test:${origin.port}`
    assert.equal(headers[wire.multiplexes ? ':authority' : 'host'], host)
    assert.equal(body, 'x')
  })

  test('security row 3: two names on one address have connections of their own', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const { agent, composed } = agentFor(t, wire, to(LOCAL))
    for (const name of ['a.example.test', 'b.example.test', 'a.example.test', 'b.example.test']) {
      const opts = { origin: named(origin, name, wire), path: '/', method: 'GET' }
      await (await composed.request(opts)).body.dump()
    }
    assert.equal(origin.sockets.length, 2)
    const address = `${wire.secure ? 'https' : 'http'}://127.0.0.1:${origin.port}`
    const keys = [`(a.example.test) ${address}`, `(b.example.test) ${address}`]
    assert.deepEqual(Object.keys(agent.stats), keys)
    // Such a key is not an origin that a caller could name.
    await assert.rejects(agent.request({ origin: keys[0]!, path: '/', method: 'GET' }))
  })

  test('an address that refuses connections is passed over, also for a POST', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const refused = { ...LOCAL, port: await refusingPort(t) }
    const { composed } = agentFor(t, wire, to(refused, LOCAL))
    const opts = { origin: named(origin, 'a.example.test', wire), path: '/', method: 'POST', body: 'x' }
    for (let i = 0; i < 3; i++) assert.equal((await readEcho(await composed.request(opts))).body, 'x')
  })

  test('a body that has not been read yet goes whole to the next address', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const refused = { ...LOCAL, port: await refusingPort(t) }
    const url = named(origin, 'a.example.test', wire)
    const generator = async function* (): AsyncGenerator<string> {
      yield 'whole'
    }
    const post = { origin: url, path: '/', method: 'POST' }
    const first = agentFor(t, wire, to(refused, LOCAL)).composed
    assert.equal((await readEcho(await first.request({ ...post, body: generator() }))).body, 'whole')
    const second = agentFor(t, wire, to(refused, LOCAL)).composed
    const body = ReadableStream.from([Buffer.from('whole')])
    const response = await fetch(url, { method: 'POST', body, duplex: 'half', dispatcher: second })
    assert.equal(((await response.json()) as { body: string }).body, 'whole')
    const third = agentFor(t, wire, to(refused, LOCAL)).composed
    // A stream is destroyed with its first attempt.
    const error = await failure(third.request({ ...post, body: Readable.from(['whole']) }))
    assert.equal(error.code, 'ECONNREFUSED')
  })

  test('errors name the origin, not the address', async (t) => {
    const origin = await startOrigin(t, wire, (request) => request.socket.destroy())
    const { composed } = agentFor(t, wire, to(LOCAL))
    const opts = { origin: named(origin, 'a.example.test', wire), path: '/', method: 'POST' }
    const lost = await failure(composed.request(opts))
    assert.equal(lost.origin, opts.origin)
    assert.notEqual(lost.phase, 'connecting')
    const unreachable = agentFor(t, wire, to({ ...LOCAL, port: await refusingPort(t) })).composed
    const error = await failure(unreachable.request(opts))
    assert.equal(error.code, 'ECONNREFUSED')
    assert.deepEqual([error.origin, error.phase], [opts.origin, 'connecting'])
  })
})

overEachWire(
  'interceptors.dns with TLS',
  (wire) => {
    test('security row 3: the certificate has to be for the name, whatever the address', async (t) => {
      const origin = await startOrigin(t, wire, echo)
      const { composed } = agentFor(t, wire, to(LOCAL))
      const get = { path: '/', method: 'GET' }
      // The certificate is valid for 127.0.0.1 and for a.example.test.
      const wrong = await failure(composed.request({ ...get, origin: named(origin, 'other.test', wire) }))
      assert.equal(wrong.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
      const right = await composed.request({ ...get, origin: named(origin, 'a.example.test', wire) })
      assert.equal(right.statusCode, 200)
      await right.body.dump()
      const still = await failure(composed.request({ ...get, origin: named(origin, 'other.test', wire) }))
      assert.equal(still.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    })
  },
  { h1: 'no certificate', h2c: 'no certificate' },
)

overTwoWires('interceptors.dns among others', (wire) => {
  const CREDENTIALS = { authorization: 'secret' }

  /** Redirects `/to?x` to x. */
  const redirecting = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    if (!request.url!.startsWith('/to?')) {
      echo(request, response)
      return
    }
    response.writeHead(302, { location: decodeURIComponent(request.url!.slice(4)) }).end()
  }

  for (const order of ['inside', 'outside']) {
    const both = (lookup: DnsLookup) => {
      const pair = [interceptors.redirect({ maxRedirections: 1 }), interceptors.dns({ lookup })]
      return order === 'inside' ? pair.reverse() : pair
    }

    test(`security row 3: names on one address are two origins for redirects; dns ${order}`, async (t) => {
      const origin = await startOrigin(t, wire, redirecting)
      const agent = composedAgent(t, wire, ...both(to(LOCAL)))
      const at = named(origin, 'localhost', wire)
      const follow = async (target: string): Promise<unknown> => {
        const path = `/to?${encodeURIComponent(target)}`
        const opts = { origin: at, path, method: 'GET', headers: CREDENTIALS }
        const { headers } = await readEcho(await agent.request(opts))
        return [headers[wire.multiplexes ? ':authority' : 'host'], headers.authorization]
      }
      assert.deepEqual(await follow('/'), [`localhost:${origin.port}`, 'secret'])
      // The address itself is another origin than its name.
      const address = `127.0.0.1:${origin.port}`
      assert.deepEqual(await follow(`http://${address}/`), [address, undefined])
    })
  }

  test('security row 3: a redirect to the address does not use a connection of the name', async (t) => {
    const origin = await startOrigin(t, wire, redirecting)
    const { agent } = agentFor(t, wire, to(LOCAL))
    const composed = agent.compose(
      interceptors.redirect({ maxRedirections: 1 }),
      interceptors.dns({ lookup: to(LOCAL) }),
    )
    const address = `http://127.0.0.1:${origin.port}`
    const path = `/to?${encodeURIComponent(`${address}/`)}`
    await (
      await composed.request({ origin: named(origin, 'api.test', wire), path, method: 'GET' })
    ).body.dump()
    assert.deepEqual(Object.keys(agent.stats), [`(api.test) ${address}`, address])
  })

  test('a cache nearer to the wire goes by the name', async (t) => {
    let served = 0
    const origin = await startOrigin(t, wire, (_request, response) => {
      served++
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end('x')
    })
    const lookup = to(LOCAL, { address: 'localhost' }, { ...LOCAL, address: '127.0.0.2' })
    const agent = composedAgent(t, wire, interceptors.cache(), interceptors.dns({ lookup }))
    const get = async (name: string): Promise<void> => {
      const opts = { origin: named(origin, name, wire), path: '/', method: 'GET' }
      await (await agent.request(opts)).body.dump()
    }
    await get('a.test')
    await get('a.test')
    assert.equal(served, 1)
    await get('b.test')
    assert.equal(served, 2)
  })

  test('errors of other interceptors name the origin', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.writeHead(500).end())
    const dns = interceptors.dns({ lookup: to(LOCAL) })
    const circuit = interceptors.circuitBreaker({ minRequests: 1 })
    const agent = composedAgent(t, wire, interceptors.responseError(), circuit, dns)
    const opts = { origin: named(origin, 'api.test', wire), path: '/', method: 'GET' }
    const answered = await failure(agent.request(opts))
    assert.ok(answered instanceof errors.ResponseError)
    assert.equal(answered.origin, opts.origin)
    const refused = await failure(agent.request(opts))
    assert.ok(refused instanceof errors.CircuitOpenError)
    assert.equal(refused.origin, opts.origin)
  })

  test('works under fetch', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = composedAgent(t, wire, interceptors.dns({ lookup: to(LOCAL) }))
    const url = `${named(origin, 'api.test', wire)}/x`
    const response = await fetch(url, { method: 'POST', body: 'x', dispatcher })
    assert.equal(response.url, url)
    assert.equal(((await response.json()) as { body: string }).body, 'x')
  })
})

test('interceptors.dns: an upgrade passes through', async (t) => {
  const server = http.createServer().listen(0, '127.0.0.1')
  server.on('upgrade', (request, socket: Socket) => {
    socket.end(`HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n${request.headers.host}`)
  })
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { composed } = agentFor(t, { name: 'h1', secure: false, multiplexes: false }, to(LOCAL))
  const { socket } = await composed.upgrade({ origin: `http://api.test:${port}`, path: '/', protocol: 'x' })
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  assert.equal(Buffer.concat(chunks).toString(), `api.test:${port}`)
})

test('interceptors.dns: a client of one origin asks the lookup, and connects as ever, once', async (t) => {
  const port = await refusingPort(t)
  let asked = 0
  const lookup: DnsLookup = (_origin, _options, callback) => {
    asked++
    callback(null, [LOCAL, { ...LOCAL, address: '127.0.0.2' }])
  }
  const client = new Client(`http://localhost:${port}`, { connect: { family: 4 } as object })
  t.after(() => client.destroy())
  let connects = 0
  client.on('connectionError', () => connects++)
  const composed = client.compose(interceptors.dns({ lookup }))
  await failure(composed.request({ path: '/', method: 'GET' }))
  assert.deepEqual([asked, connects], [1, 1])
})
