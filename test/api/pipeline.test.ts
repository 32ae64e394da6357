import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { type Duplex, PassThrough, Readable, Transform } from 'node:stream'
import { describe, it } from 'node:test'
import type { InfoData } from '../../src/api/api-handler.ts'
import type { PipelineHandlerData, PipelineOptions } from '../../src/api/pipeline.ts'
import { RequestAbortedError } from '../../src/errors.ts'
import { turn } from '../support/fake-clock.ts'
import { type Exchange, ScriptedDispatcher } from './scripted-dispatcher.ts'

const PUT = { path: '/', method: 'PUT' } as const

const echoBody = ({ body }: PipelineHandlerData): Readable => body

/** Reads the request body and answers with the same bytes. */
async function echo(exchange: Exchange): Promise<void> {
  exchange.start().head()
  for await (const chunk of exchange.opts.body as Readable) exchange.data(chunk)
  exchange.end()
}

async function failureOf(duplex: Duplex): Promise<unknown> {
  return new Promise((resolve) => duplex.once('error', resolve))
}

async function read(stream: Readable): Promise<string> {
  const chunks: string[] = []
  for await (const chunk of stream) chunks.push(String(chunk))
  return chunks.join('')
}

describe('pipeline(): arguments', () => {
  const cases: [string, unknown, unknown, string][] = [
    ['opts', null, echoBody, 'invalid opts'],
    ['handler', PUT, null, 'invalid handler'],
    ['signal', { ...PUT, signal: {} }, echoBody, 'signal must be an EventEmitter or EventTarget'],
    ['method', { path: '/', method: 'CONNECT' }, echoBody, 'invalid method'],
    ['onInfo', { ...PUT, onInfo: 5 }, echoBody, 'invalid onInfo callback'],
  ]
  for (const [name, opts, handler, message] of cases) {
    it(`never throws, returns a destroyed stream: ${name}`, async () => {
      const dispatcher = new ScriptedDispatcher()
      const stream = dispatcher.pipeline(opts as PipelineOptions, handler as never)
      assert.ok(stream instanceof PassThrough)
      assert.equal(stream.destroyed, true)
      const error = (await failureOf(stream)) as Error
      assert.equal(error.message, message)
      assert.equal(dispatcher.exchanges.length, 0)
    })
  }
})

describe('pipeline(): data', () => {
  it('what is written is the request body, what the handler returns is read', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => void echo(exchange))
    const heads: PipelineHandlerData[] = []
    const duplex = dispatcher.pipeline({ ...PUT, body: 'ignored' } as PipelineOptions, (data) => {
      heads.push(data)
      return data.body.pipe(
        new Transform({
          transform: (chunk, _encoding, callback) => callback(null, String(chunk).toUpperCase()),
        }),
      )
    })
    duplex.write('one ')
    duplex.write(Buffer.from('two'))
    duplex.end()
    assert.equal(await read(duplex), 'ONE TWO')
    assert.deepEqual(Object.keys(heads[0] ?? {}), ['statusCode', 'headers', 'opaque', 'body', 'context'])
    assert.equal(heads[0]?.opaque, null)
    assert.equal('text' in (heads[0]?.body ?? {}), false)
    assert.deepEqual(dispatcher.last.aborts, [])
  })

  it('an end without data is an empty body', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => void echo(exchange))
    const duplex = dispatcher.pipeline(PUT, echoBody)
    duplex.end()
    assert.equal(await read(duplex), '')
  })

  it('waits for the request body to be read', async () => {
    const dispatcher = new ScriptedDispatcher()
    const duplex = dispatcher.pipeline(PUT, echoBody)
    const big = Buffer.alloc(200_000)
    let written = 0
    duplex.write(big, () => written++)
    duplex.write(big, () => written++)
    await turn()
    assert.ok(written < 2)
    ;(dispatcher.last.opts.body as Readable).resume()
    await turn()
    assert.equal(written, 2)
    duplex.on('error', () => {})
    duplex.destroy()
  })

  it('pauses the response while nobody reads', async () => {
    const dispatcher = new ScriptedDispatcher()
    const duplex = dispatcher.pipeline(PUT, echoBody)
    duplex.end()
    dispatcher.last.start().head()
    for (let i = 0; i < 20; i++) {
      dispatcher.last.data(Buffer.alloc(16_384))
      await turn()
    }
    assert.ok(dispatcher.last.log.includes('pause'))
    const before = dispatcher.last.log.length
    let size = 0
    duplex.on('data', (chunk: Buffer) => {
      size += chunk.length
    })
    await turn()
    assert.equal(dispatcher.last.log.slice(before).includes('resume'), true)
    dispatcher.last.end()
    await once(duplex, 'end')
    assert.equal(size, 20 * 16_384)
  })

  it('yields objects in object mode', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().end())
    const duplex = dispatcher.pipeline({ ...PUT, objectMode: true }, ({ body }) => {
      body.resume()
      return Readable.from([{ n: 1 }, { n: 2 }])
    })
    duplex.end()
    const seen: unknown[] = []
    for await (const value of duplex) seen.push(value)
    assert.deepEqual(seen, [{ n: 1 }, { n: 2 }])
  })

  it('runs the handler in the async context of the call; opaque, context, raw headers', async () => {
    const storage = new AsyncLocalStorage<number>()
    const dispatcher = new ScriptedDispatcher()
    const seen: unknown[] = []
    const opaque = ['mine']
    const duplex = storage.run(3, () =>
      dispatcher.pipeline({ ...PUT, opaque, responseHeaders: 'raw' }, (data) => {
        seen.push(storage.getStore(), data.opaque, data.context, data.headers, data.statusCode)
        return data.body
      }),
    )
    duplex.end()
    dispatcher.last.start('ctx').head(404, { a: '1' }).end()
    await read(duplex)
    assert.deepEqual(seen, [3, opaque, 'ctx', ['a', '1'], 404])
  })

  it('onInfo: each but 100 and 101; what it throws fails the Duplex', async () => {
    const seen: InfoData[] = []
    const script = new ScriptedDispatcher((exchange) =>
      exchange.start().head(100).head(101).head(103).head().end(),
    )
    const duplex = script.pipeline({ ...PUT, onInfo: (info) => seen.push(info) }, echoBody)
    duplex.end()
    await read(duplex)
    assert.deepEqual(seen, [{ statusCode: 103, headers: {} }])
    const failure = new Error('in onInfo')
    const failed = script.pipeline(
      {
        ...PUT,
        onInfo() {
          throw failure
        },
      },
      echoBody,
    )
    assert.equal(await failureOf(failed), failure)
    const quiet = script.pipeline(PUT, echoBody)
    quiet.end()
    await read(quiet)
  })

  it('an early answer: the request body goes quietly, later writes go nowhere', async () => {
    const dispatcher = new ScriptedDispatcher()
    const duplex = dispatcher.pipeline(PUT, echoBody)
    duplex.write(Buffer.alloc(200_000))
    // Not by iteration, which destroys a Duplex that is still open for writing.
    const seen: string[] = []
    duplex.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    dispatcher.last.start().head(413).data('no').end()
    ;(dispatcher.last.opts.body as Readable).destroy()
    await turn()
    duplex.end('more')
    await once(duplex, 'close')
    assert.deepEqual(seen, ['no'])
    assert.equal(duplex.errored, null)
    assert.deepEqual(dispatcher.last.aborts, [])
  })
})

describe('pipeline(): failures', () => {
  it('a handler that throws, or returns no Readable, fails the Duplex', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().data('x').end())
    const failure = new Error('in the handler')
    const thrown = dispatcher.pipeline(PUT, () => {
      throw failure
    })
    assert.equal(await failureOf(thrown), failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])
    for (const value of [undefined, null, {}, 'x']) {
      const error = (await failureOf(dispatcher.pipeline(PUT, () => value as never))) as Error
      assert.equal(error.message, 'expected Readable')
      assert.equal((error as { code?: string }).code, 'UND_ERR_INVALID_RETURN_VALUE')
    }
  })

  it('destroying the Duplex before the end aborts with RequestAbortedError everywhere', async () => {
    const dispatcher = new ScriptedDispatcher()
    let body: Readable | undefined
    const duplex = dispatcher.pipeline(PUT, (data) => {
      body = data.body
      return data.body
    })
    duplex.write(Buffer.alloc(200_000))
    dispatcher.last.start().head().data('x')
    duplex.destroy()
    assert.ok((await failureOf(duplex)) instanceof RequestAbortedError)
    assert.ok(dispatcher.last.aborts[0] instanceof RequestAbortedError)
    assert.ok(body?.errored instanceof RequestAbortedError)
    assert.ok((dispatcher.last.opts.body as Readable).errored instanceof RequestAbortedError)
    dispatcher.last.data('late').end()
  })

  it('destroying it before the head aborts too', async () => {
    const dispatcher = new ScriptedDispatcher()
    const duplex = dispatcher.pipeline(PUT, () => assert.fail('no head'))
    const failure = new Error('mine')
    duplex.destroy(failure)
    assert.equal(await failureOf(duplex), failure)
    dispatcher.last.start().head()
    assert.deepEqual(dispatcher.last.aborts, [failure])
  })

  it('errors of the request, of the body and of the returned stream reach the Duplex', async () => {
    const failure = new Error('lost')
    const dispatcher = new ScriptedDispatcher()
    const first = dispatcher.pipeline(PUT, echoBody)
    dispatcher.last.start().head().data('x').error(failure)
    assert.equal(await failureOf(first), failure)

    const second = dispatcher.pipeline(PUT, ({ body }) => {
      body.destroy(failure)
      return new PassThrough()
    })
    dispatcher.last.start().head()
    assert.equal(await failureOf(second), failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])

    const yielded = new PassThrough()
    const third = dispatcher.pipeline(PUT, () => yielded)
    dispatcher.last.start().head()
    yielded.destroy(failure)
    assert.equal(await failureOf(third), failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])

    const fourth = dispatcher.pipeline(PUT, echoBody)
    dispatcher.last.error(failure)
    assert.equal(await failureOf(fourth), failure)
  })

  it('a body or a returned stream that closes early', async () => {
    const dispatcher = new ScriptedDispatcher()
    const yielded = new PassThrough()
    const first = dispatcher.pipeline(PUT, () => yielded)
    dispatcher.last.start().head()
    yielded.destroy()
    assert.ok((await failureOf(first)) instanceof RequestAbortedError)
    const second = dispatcher.pipeline(PUT, ({ body }) => {
      body.destroy()
      return new PassThrough()
    })
    dispatcher.last.start().head().data('x').end()
    assert.ok((await failureOf(second)) instanceof RequestAbortedError)
  })

  it('a returned stream that ends early leaves no response behind unread', async () => {
    const dispatcher = new ScriptedDispatcher()
    const duplex = dispatcher.pipeline(PUT, () => Readable.from(['enough']))
    duplex.end()
    ;(dispatcher.last.opts.body as Readable).resume()
    dispatcher.last.start().head().data('x')
    assert.equal(await read(duplex), 'enough')
    await turn()
    assert.equal(duplex.errored, null)
    assert.equal(dispatcher.last.aborts.length, 1)
  })

  it('needs no more of the returned stream than `on`', async () => {
    const dispatcher = new ScriptedDispatcher()
    const emitter = new EventEmitter()
    const duplex = dispatcher.pipeline(PUT, ({ body }) => {
      body.resume()
      return emitter as unknown as Readable
    })
    duplex.end()
    dispatcher.last.start().head().end()
    emitter.emit('data', Buffer.alloc(100_000))
    emitter.emit('data', Buffer.alloc(1))
    emitter.emit('end')
    emitter.emit('close')
    assert.equal((await read(duplex)).length, 100_001)
    emitter.emit('data', Buffer.alloc(1))
    emitter.emit('end')
    assert.equal(duplex.errored, null)
  })

  it('is not started again after its head, nor given a second one', async () => {
    for (const again of ['start', 'head'] as const) {
      const dispatcher = new ScriptedDispatcher()
      const duplex = dispatcher.pipeline(PUT, echoBody)
      dispatcher.last.start().head()
      dispatcher.last[again]()
      assert.ok((await failureOf(duplex)) instanceof RequestAbortedError)
    }
  })
})

describe('pipeline(): signals', () => {
  it('aborted at any time: the Duplex fails with the reason; the listener goes', async () => {
    const reason = new Error('stop')
    for (const at of ['before', 'queued', 'head', 'handler']) {
      const dispatcher = new ScriptedDispatcher()
      const signal = new EventEmitter()
      const abort = (): void => {
        Object.assign(signal, { aborted: true, reason })
        signal.emit('abort')
      }
      if (at === 'before') abort()
      const yielded = new PassThrough()
      const duplex = dispatcher.pipeline({ ...PUT, signal }, () => {
        if (at === 'handler') abort()
        return yielded
      })
      if (at === 'head' || at === 'handler') dispatcher.last.start().head()
      abort()
      assert.equal(await failureOf(duplex), reason)
      assert.equal(signal.listenerCount('abort'), 0)
      assert.equal(dispatcher.exchanges.length, at === 'before' ? 0 : 1)
      await turn()
      assert.equal(yielded.destroyed, at === 'head' || at === 'handler', at)
    }
  })

  it('no listener once the Duplex is done', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => void echo(exchange))
    const signal = new EventEmitter()
    const duplex = dispatcher.pipeline({ ...PUT, signal }, echoBody)
    assert.equal(signal.listenerCount('abort'), 1)
    duplex.end('x')
    await read(duplex)
    await turn()
    assert.equal(signal.listenerCount('abort'), 0)
  })
})
