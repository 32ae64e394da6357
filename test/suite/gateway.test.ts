/**
 * A gateway passes on what it gets: the body of each request is the incoming request, which is a stream even where nothing
 * is in it. An empty one must not cost a connection.
 */
import assert from 'node:assert/strict'
import http from 'node:http'
import http2, { type Http2ServerRequest } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  type BodyInput,
  type Dispatcher,
  fetch,
  H2CClient,
  interceptors,
  request,
} from '../../src/index.ts'
import { deferred, echo, readEcho } from '../support/exchange.ts'
import { http1Only, http2Only, overEachWay, startOrigin } from '../support/wire.ts'

const METHODS = ['GET', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE', 'POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND']

/** HEAD is left out of the counts: it announces `connection: close`. */
const CLOSING = 'HEAD'

const REQUESTS = 10

const EMPTY: [name: string, make: () => BodyInput][] = [
  ['a stream that ends at once', () => Readable.from([])],
  ['a stream that ends later', () => Readable.from(nothing())],
  ['a stream whose end is known', () => new PassThrough().end()],
  ['a stream of empty pieces', () => Readable.from(['', ''])],
  ['an async generator', nothing],
  ['an empty array', () => []],
  ['an empty Blob', () => new Blob([])],
]

async function* nothing(): AsyncGenerator<string> {
  await null
  yield ''
}

/** Listens, and passes all it gets on to `target`. */
async function startGateway(t: TestContext, target: Dispatcher): Promise<string> {
  const server = http.createServer(async (incoming, outgoing) => {
    const { statusCode, body } = await target.request({
      path: incoming.url!,
      method: incoming.method as 'GET',
      body: incoming,
    })
    outgoing.writeHead(statusCode)
    body.pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

overEachWay('a gateway', (way) => {
  for (const method of METHODS) {
    test(`${method} with nothing in it: one connection for all`, async (t) => {
      const origin = await startOrigin(t, way, echo)
      const gateway = await startGateway(t, origin.dispatcher({ connections: 1 }))
      const dispatcher = new Agent()
      t.after(() => dispatcher.destroy())
      for (let i = 0; i < REQUESTS; i++) {
        const { statusCode, body } = await request(`${gateway}/`, { method, dispatcher })
        assert.equal(statusCode, 200)
        await body.dump()
      }
      assert.equal(origin.sockets.length, 1)
    })
  }

  for (const [name, make] of EMPTY) {
    test(`${name} is an empty body for every method`, async (t) => {
      const origin = await startOrigin(t, way, echo)
      const client = origin.dispatcher({ connections: 1 })
      for (const method of METHODS) {
        for (let i = 0; i < 2; i++) {
          const { body } = await readEcho(await client.request({ path: '/', method, body: make() }))
          assert.equal(body, '')
        }
      }
      assert.equal(origin.sockets.length, 1)
      const head = await client.request({ path: '/', method: CLOSING, body: make() })
      assert.equal(head.statusCode, 200)
      await head.body.dump()
    })
  }

  test('pipeline() with nothing written: one connection for all', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher({ connections: 1 })
    for (const method of METHODS) {
      const duplex = client.pipeline({ path: '/', method }, ({ body }) => body)
      duplex.end().resume()
      await new Promise((resolve, reject) => duplex.on('close', resolve).on('error', reject))
    }
    assert.equal(origin.sockets.length, 1)
  })
})

/** Ways to send on a request of node:http2, each until it has failed or has a response. */
const RELAYS: Record<
  string,
  (target: Dispatcher, url: string, incoming: Http2ServerRequest) => Promise<unknown>
> = {
  'request() of the request': (target, url, body) =>
    target.request({ origin: url, path: '/', method: 'PUT', body }),
  'request() of its stream': (target, url, { stream }) =>
    target.request({ origin: url, path: '/', method: 'PUT', body: stream }),
  'request() with compress': (target, url, body) =>
    target.compose(interceptors.compress()).request({ origin: url, path: '/', method: 'PUT', body }),
  'fetch()': (target, url, body) => fetch(url, { method: 'PUT', body, duplex: 'half', dispatcher: target }),
  'fetch() of its stream': (target, url, { stream }) =>
    fetch(url, { method: 'PUT', body: stream, duplex: 'half', dispatcher: target }),
}

/** Sends a body through a gateway of node:http2, which answers when `relay` has. */
async function upload(
  t: TestContext,
  relay: (incoming: Http2ServerRequest) => Promise<unknown>,
): Promise<{ body: PassThrough; relayed: Promise<unknown>; answered: Promise<Dispatcher.ResponseData> }> {
  const relayed = deferred<unknown>()
  const gateway = http2.createServer((incoming, outgoing) => {
    incoming.stream.on('error', () => {})
    relay(incoming).then(relayed.resolve, relayed.resolve)
    relayed.promise.then(() => outgoing.end('passed on'))
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  t.after(() => gateway.close())
  const sender = new H2CClient(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`)
  t.after(() => sender.destroy())
  const body = new PassThrough()
  body.write('part')
  const answered = sender.request({ path: '/', method: 'PUT', body })
  answered.catch(() => {})
  return { body, relayed: relayed.promise, answered }
}

overEachWay('a gateway over HTTP/2', (way) => {
  for (const [name, relay] of Object.entries(RELAYS)) {
    test(`${name}: an upload that its sender resets does not look whole`, async (t) => {
      const arrived = deferred()
      const origin = await startOrigin(t, way, (incoming, outgoing) => {
        incoming.once('data', arrived.resolve)
        incoming.on('end', () => outgoing.end('stored'))
      })
      const target = origin.dispatcher()
      const { body, relayed } = await upload(t, (incoming) => relay(target, origin.url, incoming))
      await arrived.promise
      body.destroy(new Error('given up'))
      assert.ok((await relayed) instanceof Error)
    })
  }
})

overEachWay(
  'a gateway over HTTP/2',
  (way) => {
    for (const [name, relay] of Object.entries(RELAYS)) {
      test(`${name}: nor if it was answered before`, async (t) => {
        const code = deferred<number>()
        const origin = await startOrigin(t, way, (incoming, outgoing) => {
          const { stream } = incoming as unknown as Http2ServerRequest
          incoming.once('data', () => outgoing.end('enough'))
          stream.on('close', () => code.resolve(stream.rstCode))
        })
        const target = origin.dispatcher()
        const { body, answered } = await upload(t, (incoming) => relay(target, origin.url, incoming))
        assert.equal(await (await answered).body.text(), 'passed on')
        body.destroy(new Error('given up'))
        assert.equal(await code.promise, http2.constants.NGHTTP2_CANCEL)
      })
    }
  },
  http2Only('HTTP/1.1 ends the connection with the upload'),
)

overEachWay(
  'a gateway',
  (way) => {
    for (const method of ['GET', 'DELETE', 'OPTIONS', 'PURGE']) {
      test(`${method} with something in it: nothing follows on its connection`, async (t) => {
        const origin = await startOrigin(t, way, echo)
        const client = origin.dispatcher({ connections: 1 })
        const bodies: (() => BodyInput)[] = [
          () => 'x',
          () => Readable.from(['x']),
          () => Readable.from(['', 'x']),
          () => ['', 'x'],
          () => new Blob(['x']),
        ]
        for (const make of bodies) {
          const options = { path: '/', method, body: make() }
          assert.equal((await readEcho(await client.request(options))).body, 'x')
        }
        assert.equal(origin.sockets.length, bodies.length)
      })

      test(`${method} with something in it and reset: false keeps the connection`, async (t) => {
        const origin = await startOrigin(t, way, echo)
        const client = origin.dispatcher({ connections: 1 })
        for (const body of ['x', Readable.from(['x']), ['x'], new Blob(['x'])]) {
          const options = { path: '/', method, body, reset: false }
          assert.equal((await readEcho(await client.request(options))).body, 'x')
        }
        assert.equal(origin.sockets.length, 1)
      })
    }
  },
  http1Only('HTTP/2 frames every body'),
)
