import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Duplex, PassThrough, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { errors, type PipelineHandlerData } from '../../src/index.ts'
import { contentOf, deferred, echo } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const POST = { path: '/', method: 'POST' }

function errorOf(stream: NodeJS.EventEmitter): Promise<Error> {
  return new Promise((resolve) => stream.once('error', resolve))
}

overEachWay('pipeline()', (way) => {
  test('what is written is the request body, what is read is what the handler returns', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        response.setHeader('x-length', String(request.headers['content-length']))
        response.flushHeaders()
        request.pipe(response)
      })
    ).dispatcher()
    const seen: PipelineHandlerData<string>[] = []
    const upper = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        callback(null, String(chunk).toUpperCase())
      },
    })
    const duplex: Duplex = client.pipeline({ ...POST, opaque: 'mine' }, (data) => {
      seen.push(data)
      // Both directions are open at the same time.
      duplex.end('and back')
      return data.body.pipe(upper)
    })
    duplex.write('there ')
    assert.equal(String(await contentOf(duplex)), 'THERE AND BACK')
    const [data] = seen as [PipelineHandlerData<string>]
    assert.deepEqual(Object.keys(data), ['statusCode', 'headers', 'opaque', 'body', 'context'])
    assert.equal(data.statusCode, 200)
    assert.equal(data.opaque, 'mine')
    assert.equal(data.context, null)
    assert.equal(data.body instanceof Readable, true)
    assert.equal('text' in data.body, false)
    assert.equal(data.headers['x-length'], 'undefined')
  })

  test('a declared length is sent', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const duplex = client.pipeline({ ...POST, headers: { 'content-length': 3 } }, ({ body }) => body)
    duplex.write('a')
    setImmediate(() => duplex.end('bc'))
    const received = JSON.parse(String(await contentOf(duplex)))
    assert.equal(received.headers['content-length'], '3')
    assert.equal(received.body, 'abc')
  })

  test('end without a write is an empty body', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const [method, length] of [
      ['POST', '0'],
      ['GET', undefined],
    ]) {
      const duplex = client.pipeline({ path: '/', method: method! }, ({ body }) => body)
      duplex.end()
      const received = JSON.parse(String(await contentOf(duplex)))
      assert.equal(received.body, '')
      assert.equal(received.headers['content-length'], length)
    }
  })

  test('a body among the options is ignored', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const duplex = client.pipeline({ ...POST, body: 'ignored' } as never, ({ body }) => body)
    duplex.end('used')
    assert.equal(JSON.parse(String(await contentOf(duplex))).body, 'used')
  })

  test('stands in the middle of a stream pipeline', async (t) => {
    const client = (await startOrigin(t, way, (request, response) => request.pipe(response))).dispatcher()
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let received = 0
    await pipeline(
      Readable.from(Array.from({ length: 64 }, () => chunk)),
      client.pipeline(POST, ({ body }) => body),
      async (source: AsyncIterable<Buffer>) => {
        for await (const piece of source) received += piece.length
      },
    )
    assert.equal(received, 64 * chunk.length)
  })

  test('objectMode lets the handler return objects', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('[1,2]'))).dispatcher()
    const duplex = client.pipeline({ ...POST, objectMode: true }, ({ body }) =>
      body.pipe(
        new Transform({
          readableObjectMode: true,
          transform(chunk: Buffer, _encoding, callback) {
            callback(null, JSON.parse(String(chunk)))
          },
        }),
      ),
    )
    duplex.end()
    const values: unknown[] = []
    for await (const value of duplex) values.push(value)
    assert.deepEqual(values, [[1, 2]])
  })

  test('a handler that returns no stream', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    for (const value of [null, undefined, {}, 'x']) {
      const duplex = client.pipeline(POST, () => value as never)
      duplex.end()
      const error = await errorOf(duplex)
      assert.ok(error instanceof errors.InvalidReturnValueError, String(error))
      assert.equal(error.message, 'expected Readable')
    }
  })

  test('a handler that throws', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const own = new Error('mine')
    const duplex = client.pipeline(POST, () => {
      throw own
    })
    duplex.end()
    assert.equal(await errorOf(duplex), own)
    const next = client.pipeline(POST, ({ body }) => body)
    next.end()
    assert.equal(String(await contentOf(next)), 'x')
  })

  test('destroying the Duplex aborts the request and the body', async (t) => {
    const gone = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.on('close', () => gone.resolve())
        response.write('x')
      })
    ).dispatcher()
    const bodyFailed = deferred<Error>()
    const duplex = client.pipeline(POST, ({ body }) => {
      body.on('error', bodyFailed.resolve)
      return body
    })
    duplex.end()
    await once(duplex, 'data')
    const failed = errorOf(duplex)
    duplex.destroy()
    const error = await failed
    assert.ok(error instanceof errors.RequestAbortedError, String(error))
    assert.equal(await bodyFailed.promise, error)
    await gone.promise
  })

  test('an error of the handler’s stream is that of the Duplex', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('x')
      })
    ).dispatcher()
    const own = new Error('cannot read that')
    const duplex = client.pipeline(POST, ({ body }) =>
      body.pipe(
        new Transform({
          transform(_chunk, _encoding, callback) {
            callback(own)
          },
        }),
      ),
    )
    duplex.resume()
    duplex.end()
    assert.equal(await errorOf(duplex), own)
  })

  test('an error of the response is that of the Duplex', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('x')
    })
    const duplex = origin.dispatcher().pipeline(POST, ({ body }) => body.pipe(new PassThrough()))
    duplex.end()
    await once(duplex, 'data')
    const failed = errorOf(duplex)
    for (const socket of origin.sockets) socket.destroy()
    assert.match((await failed).message, /^(other side closed|read ECONNRESET|closed)/)
  })

  test('an error before the response', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const duplex = client.pipeline({ ...POST, path: 'wrong' }, ({ body }) => body)
    assert.equal((await errorOf(duplex)) instanceof errors.InvalidArgumentError, true)
  })
})
