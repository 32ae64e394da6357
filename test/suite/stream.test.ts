import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Duplex, PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { errors, type StreamFactoryData } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

/** Over a pool or an agent it would only take longer. */
const CLIENT_ONLY = "backpressure is the connection's, whatever dispatcher chose it"

const GET = { path: '/', method: 'GET' }

/** Collects its input. */
class Collector extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.text += chunk
    callback()
  }
}

overEachWay('stream()', (way) => {
  test('writes the body to what the factory returns for the head', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeHead(201, { 'x-a': '1', trailer: 'x-sum' })
        response.write('one ')
        response.addTrailers({ 'X-Sum': '3' })
        response.end('two')
      })
    ).dispatcher()
    const target = new Collector()
    const seen: StreamFactoryData<string>[] = []
    const result = await client.stream({ ...GET, opaque: 'mine' }, (data) => {
      seen.push(data)
      return target
    })
    assert.equal(target.text, 'one two')
    assert.deepEqual(Object.keys(result), ['opaque', 'trailers'])
    assert.equal(result.opaque, 'mine')
    assert.deepEqual({ ...result.trailers }, { 'x-sum': '3' })
    assert.equal(seen.length, 1)
    const [data] = seen as [StreamFactoryData<string>]
    assert.deepEqual(Object.keys(data), ['statusCode', 'headers', 'opaque', 'context'])
    assert.equal(data.statusCode, 201)
    assert.equal(data.headers['x-a'], '1')
    assert.equal(data.opaque, 'mine')
    assert.equal(data.context, null)
    // It is not readable, so it is no longer needed.
    assert.equal(target.destroyed, true)
  })

  test('answers a callback', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const target = new Collector()
    const data = await new Promise<object>((resolve, reject) => {
      client.stream(
        GET,
        () => target,
        (error, result) => (error ? reject(error) : resolve(result)),
      )
    })
    assert.deepEqual({ ...data }, { opaque: null, trailers: {} })
    assert.equal(target.text, 'x')
  })

  test('raw headers are flat', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.setHeader('X-A', ['1', '2'])
        response.end()
      })
    ).dispatcher()
    let headers: unknown
    await client.stream({ ...GET, responseHeaders: 'raw' }, (data) => {
      headers = data.headers
      return new Collector()
    })
    const flat = (headers as string[]).map((part) => part.toLowerCase())
    assert.deepEqual(flat.slice(0, 4), ['x-a', '1', 'x-a', '2'])
  })

  test('what is not a Writable is refused', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const wrong: unknown[] = [null, undefined, {}, { write() {}, end() {} }, Promise.resolve(new Collector())]
    for (const value of wrong) {
      const error = await failure(client.stream(GET, () => value as Writable))
      assert.ok(error instanceof errors.InvalidReturnValueError, String(error))
      assert.equal(error.message, 'expected Writable')
    }
    const target = new Collector()
    await client.stream(GET, () => target)
    assert.equal(target.text, 'x')
  })

  test('what the factory throws fails the request, and the client goes on', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const own = new Error('no place')
    const failed = failure(
      client.stream(GET, () => {
        throw own
      }),
    )
    const target = new Collector()
    const next = client.stream(GET, () => target)
    assert.equal(await failed, own)
    await next
    assert.equal(target.text, 'x')
  })

  test('an error of the writable is the result, and the request is aborted', async (t) => {
    const gone = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.on('close', () => gone.resolve())
        response.write('x')
      })
    ).dispatcher()
    const own = new Error('disk full')
    const target = new Writable({
      write(_chunk, _encoding, callback) {
        callback(own)
      },
    })
    assert.equal(await failure(client.stream(GET, () => target)), own)
    await gone.promise
  })

  test('a writable that closes, and a signal that is aborted because of it: a premature close', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.write('x')
    })
    const client = origin.dispatcher()
    for (const reason of [undefined, new Error('on disk')]) {
      const controller = new AbortController()
      const target = new PassThrough().on('error', () => {}).on('close', () => controller.abort())
      target.once('data', () => target.destroy(reason))
      const error = await failure(client.stream({ ...GET, signal: controller.signal }, () => target))
      if (reason === undefined) assert.equal(error.code, 'ERR_STREAM_PREMATURE_CLOSE')
      else assert.equal(error, reason)
    }
  })

  test('an aborted writable that says nothing of its end: the reason of the abort', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.write('x')
    })
    const controller = new AbortController()
    const reason = new Error('enough')
    const target = new Writable({ emitClose: false, write: (_chunk, _encoding, done) => done() })
    const streamed = origin.dispatcher().stream({ ...GET, signal: controller.signal }, () => {
      setImmediate(() => {
        target.destroy()
        controller.abort(reason)
      })
      return target
    })
    const error = await failure(streamed)
    assert.ok(error === reason || error.code === 'ERR_STREAM_PREMATURE_CLOSE', String(error))
  })

  test('nothing is written to a writable of an older generation that is full', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('later'))).dispatcher()
    const writes: [text: string, isFull: boolean][] = []
    class Older extends Writable {
      release = (): void => {}

      override write(chunk: Buffer | string): boolean {
        const { needDrain } = (this as unknown as { _writableState: { needDrain: boolean } })._writableState
        writes.push([String(chunk), needDrain])
        return super.write(chunk)
      }

      override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
        this.release = done
        if (writes.length > 1) done()
      }
    }
    const target = new Older({ highWaterMark: 1 })
    Object.defineProperty(target, 'writableNeedDrain', { value: undefined })
    target.write('first')
    await client.stream(GET, () => {
      setImmediate(() => target.release())
      return target
    })
    assert.deepEqual(writes, [
      ['first', false],
      ['later', false],
    ])
  })

  test('a writable that closes early is a premature close', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('x')
      })
    ).dispatcher()
    const target: Writable = new Writable({
      write(_chunk, _encoding, callback) {
        target.destroy()
        callback()
      },
    })
    const error = await failure(client.stream(GET, () => target))
    assert.equal(error.code, 'ERR_STREAM_PREMATURE_CLOSE')
    const closed = new Collector()
    closed.destroy()
    await once(closed, 'close')
    assert.equal((await failure(client.stream(GET, () => closed))).code, 'ERR_STREAM_PREMATURE_CLOSE')
  })

  test('a failure of the request destroys the writable with it', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('x')
    })
    const target = new PassThrough()
    const failed = failure(origin.dispatcher().stream(GET, () => target))
    await once(target, 'data')
    for (const socket of origin.sockets) socket.destroy()
    const error = await failed
    assert.match(error.message, /^(other side closed|read ECONNRESET|closed)/)
    assert.equal(target.errored, error)
  })

  test('waits for finish, not for the readable side of a Duplex', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const target = new Duplex({
      read() {},
      write(_chunk, _encoding, callback) {
        callback()
      },
    })
    await client.stream(GET, () => target)
    assert.equal(target.writableFinished, true)
    // Its readable side is still in use.
    assert.equal(target.destroyed, false)
    target.destroy()
  })

  test('the response waits for a slow writable', async (t) => {
    if (way.kind !== 'Client') return t.skip(CLIENT_ONLY)
    const total = 24 * 1024 * 1024
    let sent = 0
    let written = 0
    let ahead = 0
    const client = (
      await startOrigin(t, way, (_request, response) => {
        const chunk = Buffer.alloc(64 * 1024)
        const write = (): void => {
          while (sent < total) {
            sent += chunk.length
            ahead = Math.max(ahead, sent - written)
            if (!response.write(chunk)) {
              response.once('drain', write)
              return
            }
          }
          response.end()
        }
        write()
      })
    ).dispatcher()
    await client.stream(
      GET,
      () =>
        new Writable({
          write(chunk: Buffer, _encoding, callback) {
            written += chunk.length
            setImmediate(callback)
          },
        }),
    )
    assert.equal(written, total)
    assert.equal(ahead < total / 2, true, `${ahead} bytes were ahead of the writable`)
  })

  test('a writable that is full from the start is waited for', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('second'))).dispatcher()
    let release: (() => void) | null = null
    let text = ''
    const target = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, callback) {
        text += chunk
        if (release === null) release = callback
        else callback()
      },
    })
    target.write('first ')
    assert.equal(target.writableNeedDrain, true)
    const done = client.stream(GET, () => {
      setImmediate(() => release?.())
      return target
    })
    await done
    assert.equal(text, 'first second')
  })

  test('sends a body like request does', async (t) => {
    const client = (await startOrigin(t, way, (request, response) => request.pipe(response))).dispatcher()
    const target = new Collector()
    await client.stream({ path: '/', method: 'POST', body: ['there ', 'and back'] }, () => target)
    assert.equal(target.text, 'there and back')
  })
})
