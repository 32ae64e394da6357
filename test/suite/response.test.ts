import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { deferred, failure } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

overEachWay('the result of request()', (way) => {
  test('holds the documented fields, in order', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeHead(201, 'Made Up', { 'X-One': '1', 'x-many': ['a', 'b'], 'set-cookie': 'a=b' })
        response.end('body')
      })
    ).dispatcher()
    const data = await client.request({ ...GET, opaque: 'mine' })
    assert.deepEqual(Object.keys(data), [
      'statusCode',
      'statusText',
      'headers',
      'trailers',
      'opaque',
      'body',
      'context',
    ])
    assert.equal(data.statusCode, 201)
    assert.equal(data.statusText, way.multiplexes ? '' : 'Made Up')
    assert.equal(data.headers['x-one'], '1')
    assert.equal(data.opaque, 'mine')
    assert.equal(data.context, null)
    assert.equal(data.body instanceof Readable, true)
    if (!way.multiplexes) {
      assert.deepEqual(data.headers['x-many'], ['a', 'b'])
      assert.equal(data.headers['set-cookie'], 'a=b')
    }
    assert.equal(await data.body.text(), 'body')
    assert.deepEqual(data.trailers, {})
  })

  test('a callback gets the same', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const statusCode = await new Promise<number>((resolve, reject) => {
      const returned = client.request(GET, (error, data) => {
        if (error) return reject(error)
        data.body.dump().then(() => resolve(data.statusCode), reject)
      })
      assert.equal(returned, undefined)
    })
    assert.equal(statusCode, 200)
  })

  test('the callback runs in the async context of the call', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const storage = new AsyncLocalStorage<string>()
    const seen = await new Promise((resolve) => {
      storage.run('mine', () => {
        client.request(GET, (_error, data) => {
          data.body.dump()
          resolve(storage.getStore())
        })
      })
    })
    assert.equal(seen, 'mine')
  })

  test('headers are decoded as Latin-1, and any name is an own property', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.setHeader('x-latin', 'gr\u00fcn')
        response.setHeader('__proto__', 'a')
        response.setHeader('constructor', 'b')
        response.end()
      })
    ).dispatcher()
    const { headers, body } = await client.request(GET)
    assert.equal(headers['x-latin'], 'gr\u00fcn')
    const own = new Map(Object.entries(headers))
    assert.equal(own.get('__proto__'), 'a')
    assert.equal(own.get('constructor'), 'b')
    assert.equal(Object.getPrototypeOf({}), Object.prototype)
    await body.dump()
  })

  test('responseHeaders: raw gives them flat, as received', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.sendDate = false
        response.writeHead(200, { 'X-One': '1', 'X-Many': ['a', 'b'] })
        response.end()
      })
    ).dispatcher()
    const { headers, body } = await client.request({ ...GET, responseHeaders: 'raw' })
    const sent = ['X-One', '1', 'X-Many', 'a', 'X-Many', 'b']
    assert.deepEqual(headers.slice(0, 6), way.multiplexes ? sent.map((part) => part.toLowerCase()) : sent)
    await body.dump()
  })

  test('trailers are filled in before the body ends', async (t) => {
    const headSeen = deferred()
    const client = (
      await startOrigin(t, way, async (_request, response) => {
        response.writeHead(200, { trailer: 'X-Sum' })
        response.write('a')
        await headSeen.promise
        response.addTrailers({ 'X-Sum': '42' })
        response.end('b')
      })
    ).dispatcher()
    const { trailers, body } = await client.request(GET)
    assert.deepEqual(trailers, {})
    headSeen.resolve()
    const atEnd = new Promise((resolve) => body.on('end', () => resolve(trailers['x-sum'])))
    body.resume()
    assert.equal(await atEnd, '42')

    const again = await client.request(GET)
    assert.equal(await again.body.text(), 'ab')
    assert.equal(again.trailers['x-sum'], '42')
  })

  test('HEAD, 204 and 304 have a body that is empty', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        if (request.method === 'HEAD') response.setHeader('content-length', '1000')
        else response.statusCode = Number(request.url?.slice(1))
        response.end()
      })
    ).dispatcher()
    const head = await client.request({ path: '/', method: 'HEAD' })
    assert.equal(head.headers['content-length'], '1000')
    assert.equal(await head.body.text(), '')
    for (const status of [204, 304]) {
      const { statusCode, body } = await client.request({ path: `/${status}`, method: 'GET' })
      assert.equal(statusCode, status)
      assert.equal(await body.text(), '')
    }
  })

  test('every final status resolves', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        response.statusCode = Number(request.url?.slice(1))
        response.end()
      })
    ).dispatcher()
    for (const status of [200, 301, 404, 500, 599]) {
      const { statusCode, body } = await client.request({ path: `/${status}`, method: 'GET' })
      assert.equal(statusCode, status)
      await body.dump()
    }
  })

  test('a callback that throws destroys the body; the error is not lost and the client survives', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.write('x')
      response.end('y')
    })
    const client = origin.dispatcher()
    const own = new Error('in the callback')
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
    let closed: Promise<void> | undefined
    client.request(GET, (_error, data) => {
      closed = new Promise((resolve) => data.body.on('close', resolve))
      throw own
    })
    try {
      assert.equal(await uncaught, own)
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener)
    }
    await closed
    const { body } = await client.request(GET)
    assert.equal(await body.text(), 'xy')
  })

  test('requests one after another are answered in turn', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => response.end(request.url))
    const client = origin.dispatcher({ connections: 1 })
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const texts = await Promise.all(
      paths.map(async (path) => (await client.request({ path, method: 'GET' })).body.text()),
    )
    assert.deepEqual(texts, paths)
    assert.equal(origin.sockets.length, 1)
  })

  test('the request fails when the server goes away before the head', async (t) => {
    const origin = await startOrigin(t, way, () => {
      for (const socket of origin.sockets) socket.destroy()
    })
    const client = origin.dispatcher()
    const disconnected = new Promise<Error>((resolve) =>
      client.once('disconnect', (_origin, _targets, error: Error) => resolve(error)),
    )
    const error = await failure(client.request({ path: '/', method: 'POST' }))
    assert.match(error.message, /^(other side closed|read ECONNRESET)/)
    assert.match((await disconnected).message, /^(other side closed|read ECONNRESET)/)
  })
})
