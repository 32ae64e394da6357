/**
 * A real consumer of the diagnostics channels: the network inspector of the runtime
 * (`--inspect --experimental-network-inspection`), by which the tools of a browser show requests.
 */
import assert from 'node:assert/strict'
import type http from 'node:http'
import inspector from 'node:inspector'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { WebSocketServer } from 'ws'
import { refusingPort } from '../support/refusing-port.ts'
import { type Listener, startOrigin, WIRES, type Wire, wireOptions } from '../support/wire.ts'
import { InspectedProcess, type NetworkEvent } from './inspected-process.ts'

/** What the runtime can tell a session about the network; types for its oldest version do not name it. */
const { Network } = inspector as { readonly Network?: Readonly<Record<string, unknown>> }

const skip =
  typeof Network?.dataReceived === 'function' ? false : 'this runtime has no inspector for requests of undici'

/** They came later. */
const noBodies =
  typeof Network?.webSocketCreated === 'function' ? false : 'the inspector of this runtime keeps no bodies'

const TEXT = 'text/plain; charset=utf-8'
const BINARY = Buffer.from([0, 255, 1, 128])

const answer: Listener = (request, response) => {
  switch (request.url!.replace(/\?.*/, '')) {
    case '/text':
      response.writeHead(201, { 'content-type': TEXT, 'set-cookie': ['a=1', 'b=2'] })
      response.end('häuser')
      break
    case '/binary':
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      response.end(BINARY)
      break
    case '/echo':
      response.writeHead(200, { 'content-type': TEXT })
      request.pipe(response)
      break
    case '/half':
      response.writeHead(200, { 'content-type': TEXT, 'content-length': '100' })
      response.write('half')
      break
    case '/silent':
      break
    default:
      response.writeHead(200, { 'content-type': TEXT })
      response.write(`first of ${request.url}, `)
      response.end('x'.repeat(10_000))
  }
}

/** The process, an origin of this wire, and the code that makes a client for it. */
async function begin(
  t: TestContext,
  wire: Wire,
): Promise<{ inspected: InspectedProcess; url: string; make: string; sockets: readonly Socket[] }> {
  const [inspected, { url, sockets }] = await Promise.all([
    InspectedProcess.start(t),
    startOrigin(t, wire, answer),
  ])
  const { useH2c, ...options } = wireOptions(wire)
  const name = useH2c ? 'H2CClient' : 'Client'
  const make = `const client = globalThis.client ??= new ventuno.${name}('${url}', ${JSON.stringify(options)});`
  return { inspected, url, make, sockets }
}

function namesOf(events: readonly NetworkEvent[]): string {
  return events.map(({ name }) => name).join()
}

// biome-ignore lint/suspicious/noExplicitAny: the protocol of the inspector
function paramsOf(events: readonly NetworkEvent[], name: string): any {
  return events.find((event) => event.name === name)!.params
}

const FINISHED = 'requestWillBeSent,responseReceived,loadingFinished'

async function bodyOf(inspected: InspectedProcess, events: readonly NetworkEvent[]): Promise<Buffer> {
  const { requestId } = events[0]!.params as { requestId: string }
  const { body, base64Encoded } = await inspected.call('Network.getResponseBody', { requestId })
  return Buffer.from(body, base64Encoded ? 'base64' : 'utf8')
}

for (const wire of WIRES) {
  describe(`the network inspector over ${wire.name}`, { skip }, () => {
    it('shows requests with their heads', async (t) => {
      const { inspected, url, make } = await begin(t, wire)
      const status = await inspected.run(`${make}
        const { statusCode, body } = await client.request({
          path: '/text', query: { of: 'any' }, method: 'GET', headers: { 'X-Ask': 'q', list: ['1', '2'] },
        })
        await body.dump()
        return statusCode`)
      assert.equal(status, 201)

      const [events] = inspected.requests
      assert.equal(namesOf(events!), FINISHED)
      const { request } = paramsOf(events!, 'requestWillBeSent')
      assert.equal(request.url, `${url}/text?of=any`)
      assert.equal(request.method, 'GET')
      assert.equal(request.hasPostData, false)
      assert.equal(request.headers['X-Ask'], 'q')
      assert.equal(request.headers.list, '1,2')
      const { response } = paramsOf(events!, 'responseReceived')
      assert.equal(response.url, `${url}/text?of=any`)
      assert.deepEqual(
        [response.status, response.statusText, response.mimeType, response.charset],
        [201, wire.multiplexes ? '' : 'Created', 'text/plain', 'utf-8'],
      )
      assert.equal(response.headers['set-cookie'], 'a=1\nb=2')
    })

    it('shows bodies of both directions', { skip: noBodies }, async (t) => {
      const { inspected, make } = await begin(t, wire)
      await inspected.run(`${make}
        const say = async (options) => {
          const { body } = await client.request(options)
          await body.bytes()
        }
        const headers = { 'content-type': '${TEXT}' }
        await say({ path: '/text', method: 'GET' })
        await say({ path: '/binary', method: 'GET' })
        await say({ path: '/echo', method: 'POST', headers, body: 'bäume' })
        await say({ path: '/echo', method: 'POST', headers, body: (function* () { yield 'bä'; yield Buffer.from('ume') })() })
        await say({ path: '/echo', method: 'POST', headers, body: 'bäume', expectContinue: true })`)
      const [text, binary, ...posts] = inspected.requests
      assert.equal(posts.length, 3)
      assert.equal(String(await bodyOf(inspected, text!)), 'häuser')
      assert.deepEqual(await bodyOf(inspected, binary!), BINARY)
      for (const events of posts) {
        const { requestId, request } = paramsOf(events, 'requestWillBeSent')
        assert.equal(request.hasPostData, true)
        assert.deepEqual(await inspected.call('Network.getRequestPostData', { requestId }), {
          postData: 'bäume',
        })
        assert.equal(String(await bodyOf(inspected, events)), 'bäume')
      }
    })

    it('shows failures and aborts, whatever the reason is', async (t) => {
      const { inspected, make, sockets } = await begin(t, wire)
      const refused = await refusingPort(t)
      const say = (path: string, act: string): Promise<unknown> =>
        inspected.run(`${make}
          const controller = new AbortController()
          const { signal } = controller
          const response = client.request({ path: '${path}', method: 'GET', signal })
          response.catch(() => {})
          ${act}
          const { body } = await response
          await body.text()`)
      const written = `await new Promise((resolve) => setImmediate(resolve))`

      // The connection is opened, and its server ends it in the middle of a body.
      await inspected.run(`${make}
        const { body } = await client.request({ path: '/half', method: 'GET' })
        body.on('error', () => {}).resume()
        globalThis.closed = new Promise((resolve) => body.once('close', resolve))`)
      for (const socket of sockets) socket.destroy()
      await inspected.run(`await closed`)
      await inspected.run(`await ventuno.request('http://127.0.0.1:${refused}/')`)
      await say('/silent', `${written}; controller.abort()`)
      await say('/silent', `${written}; controller.abort('enough')`)
      await say('/silent', `${written}; controller.abort(null)`)
      await say(
        '/half',
        `const { body: left } = await response
          left.on('error', () => {}).destroy()
          await new Promise((resolve) => left.once('close', resolve))`,
      )
      assert.equal(inspected.isRunning, true)

      const { requests } = inspected
      assert.deepEqual(
        requests.map(namesOf),
        [true, false, false, false, false, true].map((isAnswered) =>
          ['requestWillBeSent', ...(isAnswered ? ['responseReceived'] : []), 'loadingFailed'].join(),
        ),
      )
      const texts = requests.map((events) => paramsOf(events, 'loadingFailed').errorText as string)
      assert.notEqual(texts[0], '')
      assert.deepEqual(texts.slice(1), [
        `connect ECONNREFUSED 127.0.0.1:${refused}`,
        'This operation was aborted',
        'enough',
        'Request aborted',
        'Request aborted',
      ])
    })

    it('shows requests of fetch', async (t) => {
      const { inspected, url, make } = await begin(t, wire)
      const text = await inspected.run(`${make}
        const response = await ventuno.fetch('${url}/echo', { method: 'POST', body: 'bäume', dispatcher: client })
        return response.text()`)
      assert.equal(text, 'bäume')
      const [events] = inspected.requests
      assert.equal(namesOf(events!), FINISHED)
      if (noBodies) return
      const { requestId } = paramsOf(events!, 'requestWillBeSent')
      const { postData } = await inspected.call('Network.getRequestPostData', { requestId })
      assert.equal(postData, 'bäume')
      assert.equal(String(await bodyOf(inspected, events!)), 'bäume')
    })

    it('keeps requests at the same time apart', async (t) => {
      const { inspected, url } = await begin(t, wire)
      const { connect, useH2c } = wireOptions(wire)
      const options = JSON.stringify({ connect, useH2c, connections: 5 })
      const result = await inspected.run(`
        const pool = new ventuno.Pool('${url}', ${options})
        await Promise.all(Array.from({ length: 30 }, async (_, index) => {
          const { body } = await pool.request({ path: '/' + index, method: 'GET' })
          await body.text()
        }))`)
      assert.equal(result, undefined)
      const { requests } = inspected
      assert.deepEqual(requests.map(namesOf), Array(30).fill(FINISHED))
      if (noBodies) return
      for (const events of requests) {
        const path = new URL(paramsOf(events, 'requestWillBeSent').request.url).pathname
        assert.equal(String(await bodyOf(inspected, events)), `first of ${path}, ${'x'.repeat(10_000)}`)
      }
    })
  })
}

describe('the network inspector', { skip }, () => {
  it('shows WebSockets', { skip: noBodies }, async (t) => {
    const inspected = await InspectedProcess.start(t)
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    t.after(() => server.close())
    server.on('connection', (socket) => socket.close(1000))
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `ws://127.0.0.1:${(server.address() as { port: number }).port}/feed`
    await inspected.run(`
      const socket = new ventuno.WebSocket('${url}')
      await new Promise((resolve) => { socket.onclose = resolve })`)
    const events = inspected.requests.at(-1)!
    assert.equal(namesOf(events), 'webSocketCreated,webSocketHandshakeResponseReceived,webSocketClosed')
    assert.equal(paramsOf(events, 'webSocketCreated').url, url)
    const { response } = paramsOf(events, 'webSocketHandshakeResponseReceived')
    assert.equal(response.status, 101)
    assert.equal(response.headers.upgrade, 'websocket')
  })

  it('shows each request that interceptors make', async (t) => {
    const wire = WIRES[0]!
    const inspected = await InspectedProcess.start(t)
    const origin = await startOrigin(t, wire, (request, response: http.ServerResponse) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' })
      response.end()
    })
    await inspected.run(`
      const agent = new ventuno.Agent().compose(ventuno.interceptors.redirect({ maxRedirections: 1 }))
      const { body } = await agent.request({ origin: '${origin.url}', path: '/', method: 'GET' })
      await body.dump()`)
    const { requests } = inspected
    assert.deepEqual(requests.map(namesOf), [FINISHED, FINISHED])
    assert.deepEqual(
      requests.map((events) => paramsOf(events, 'responseReceived').response.status),
      [302, 200],
    )
  })
})
