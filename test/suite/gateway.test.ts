/**
 * A gateway passes on what it gets: the body of each request is the incoming request, which is a stream even where nothing
 * is in it. An empty one must not cost a connection.
 */
import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Agent, type BodyInput, type Dispatcher, request } from '../../src/index.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { http1Only, overEachWay, startOrigin } from '../support/wire.ts'

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
