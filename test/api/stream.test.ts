import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, it } from 'node:test'
import type { InfoData } from '../../src/api/api-handler.ts'
import type { StreamFactoryData, StreamOptions } from '../../src/api/stream.ts'
import { RequestAbortedError } from '../../src/errors.ts'
import { turn } from '../support/fake-clock.ts'
import { ScriptedDispatcher, uncaughtDuring } from './scripted-dispatcher.ts'

const GET = { path: '/', method: 'GET' } as const

class Sink extends Writable {
  readonly chunks: string[] = []

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.chunks.push(chunk.toString())
    callback()
  }
}

describe('stream(): arguments', () => {
  const factory = (): Sink => new Sink()
  const cases: [string, unknown, unknown, string][] = [
    ['opts', null, factory, 'invalid opts'],
    ['factory', GET, null, 'invalid factory'],
    ['factory before signal', { ...GET, signal: {} }, undefined, 'invalid factory'],
    ['signal', { ...GET, signal: {} }, factory, 'signal must be an EventEmitter or EventTarget'],
    ['method', { path: '/', method: 'CONNECT' }, factory, 'invalid method'],
    ['onInfo', { ...GET, onInfo: {} }, factory, 'invalid onInfo callback'],
  ]
  for (const [name, opts, given, message] of cases) {
    it(`rejects or calls back: ${name}`, async () => {
      const dispatcher = new ScriptedDispatcher()
      const expected = { code: 'UND_ERR_INVALID_ARG', message }
      await assert.rejects(dispatcher.stream(opts as StreamOptions, given as never), expected)
      const error = await new Promise((resolve) =>
        dispatcher.stream(opts as StreamOptions, given as never, resolve),
      )
      assert.equal((error as Error).message, message)
      assert.equal(dispatcher.exchanges.length, 0)
    })
  }

  it('throws for a bad callback', () => {
    const dispatcher = new ScriptedDispatcher()
    assert.throws(() => dispatcher.stream(GET, factory, null as never), { message: 'invalid callback' })
    assert.throws(() => dispatcher.stream(null as never, factory, null as never), { message: 'invalid opts' })
  })
})

describe('stream(): result', () => {
  it('gives the head to the factory, the body to the Writable, the trailers to the caller', async () => {
    const dispatcher = new ScriptedDispatcher()
    const sink = new Sink()
    const opaque = { id: 1 }
    const heads: StreamFactoryData<{ id: number }>[] = []
    const promise = dispatcher.stream({ ...GET, opaque }, (head) => {
      heads.push(head)
      return sink
    })
    dispatcher.last.start('ctx').head(103).head(201, { a: 'b' }).data('x', 'y').end({ sum: '1' })
    const data = await promise
    assert.deepEqual(heads, [{ statusCode: 201, headers: { a: 'b' }, opaque, context: 'ctx' }])
    assert.deepEqual(sink.chunks, ['x', 'y'])
    assert.deepEqual(Object.keys(data), ['opaque', 'trailers'])
    assert.equal(data.opaque, opaque)
    assert.deepEqual(data.trailers, { sum: '1' })
    assert.equal(data.timings, null)
    assert.equal(sink.destroyed, true)
    assert.deepEqual(dispatcher.last.aborts, [])
  })

  it('calls back with (null, data); raw headers; no opaque is null', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head(200, { a: '1' }).end())
    let headers: unknown
    const [error, data] = await new Promise<unknown[]>((resolve) => {
      const factory = (head: StreamFactoryData): Sink => {
        headers = head.headers
        return new Sink()
      }
      dispatcher.stream({ ...GET, responseHeaders: 'raw' }, factory, (...args) => resolve(args))
    })
    assert.equal(error, null)
    assert.deepEqual({ ...(data as object) }, { opaque: null, trailers: {} })
    assert.deepEqual(headers, ['a', '1'])
  })

  it('does not wait for the readable side of a Duplex, nor destroy it', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().data('x').end())
    const duplex = new PassThrough()
    await dispatcher.stream(GET, () => duplex)
    assert.equal(duplex.destroyed, false)
    assert.equal(String(duplex.read()), 'x')
  })

  it('runs factory, onInfo and callback in the async context of the call', async () => {
    const storage = new AsyncLocalStorage<number>()
    const dispatcher = new ScriptedDispatcher()
    const seen: unknown[] = []
    const note = (): void => void seen.push(storage.getStore())
    const done = storage.run(5, () => {
      return new Promise((resolve) => {
        const factory = (): Sink => {
          note()
          return new Sink()
        }
        dispatcher.stream({ ...GET, onInfo: note }, factory, () => {
          note()
          resolve(null)
        })
      })
    })
    storage.run(6, () => dispatcher.last.start().head(103).head().end())
    await done
    assert.deepEqual(seen, [5, 5, 5])
  })

  it('onInfo: each but 100 and 101; what it throws aborts', async () => {
    const seen: InfoData[] = []
    const script = new ScriptedDispatcher((exchange) =>
      exchange.start().head(100).head(101).head(103).head().end(),
    )
    await script.stream({ ...GET, onInfo: (info) => seen.push(info) }, () => new Sink())
    assert.deepEqual(seen, [{ statusCode: 103, headers: {} }])
    const failure = new Error('in onInfo')
    const onInfo = (): void => {
      throw failure
    }
    await assert.rejects(
      script.stream({ ...GET, onInfo }, () => new Sink()),
      failure,
    )
    assert.deepEqual(script.last.aborts, [failure])
  })

  it('an error of the callback is seen by the process, whenever the Writable finishes', async () => {
    const dispatcher = new ScriptedDispatcher()
    const failure = new Error('in the callback')
    class Eager extends EventEmitter {
      write(): boolean {
        return true
      }
      end(): void {
        this.emit('finish')
      }
    }
    let calls = 0
    const uncaught = await uncaughtDuring(() => {
      const callback = (): void => {
        calls++
        throw failure
      }
      dispatcher.stream(GET, () => new Eager() as unknown as Writable, callback)
      dispatcher.last.start().head().data('x').end().error(new Error('after the end'))
    })
    assert.deepEqual(uncaught, [failure])
    assert.equal(calls, 1)
  })
})

describe('stream(): backpressure', () => {
  it('pauses when write says so and resumes on drain', async () => {
    const dispatcher = new ScriptedDispatcher()
    const callbacks: (() => void)[] = []
    const slow = new Writable({
      highWaterMark: 1,
      write: (_c, _e, callback) => void callbacks.push(callback),
    })
    const promise = dispatcher.stream(GET, () => slow)
    dispatcher.last.start().head().data('ab')
    assert.deepEqual(dispatcher.last.log, ['pause'])
    callbacks.shift()?.()
    await turn()
    assert.deepEqual(dispatcher.last.log, ['pause', 'resume'])
    slow.emit('drain')
    assert.deepEqual(dispatcher.last.log, ['pause', 'resume'])
    dispatcher.last.end()
    await promise
  })

  it('starts paused for a Writable that needs drain', () => {
    const dispatcher = new ScriptedDispatcher()
    const full = new Writable({ highWaterMark: 1, write() {} })
    full.write('xx')
    dispatcher.stream(
      GET,
      () => full,
      () => {},
    )
    dispatcher.last.start().head()
    assert.deepEqual(dispatcher.last.log, ['pause'])
  })
})

describe('stream(): failures', () => {
  it('a factory that throws, or returns no Writable, fails the request', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().data('x').end())
    const failure = new Error('in the factory')
    const thrown = dispatcher.stream(GET, () => {
      throw failure
    })
    await assert.rejects(thrown, failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])
    for (const value of [undefined, null, {}, { write() {} }, { write() {}, end() {} }, Promise.resolve()]) {
      await assert.rejects(
        dispatcher.stream(GET, () => value as never),
        { code: 'UND_ERR_INVALID_RETURN_VALUE', message: 'expected Writable' },
      )
    }
  })

  it('an error of the Writable aborts the request with it', async () => {
    const dispatcher = new ScriptedDispatcher()
    const failure = new Error('disk full')
    const sink = new Writable({ write: (_c, _e, callback) => callback(failure) })
    const promise = dispatcher.stream(GET, () => sink)
    dispatcher.last.start().head().data('x')
    await assert.rejects(promise, failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])
    dispatcher.last.data('late').end()
  })

  it('a Writable closed early: premature close', async () => {
    const dispatcher = new ScriptedDispatcher()
    const sink = new Sink()
    const promise = dispatcher.stream(GET, () => sink)
    dispatcher.last.start().head()
    sink.destroy()
    await assert.rejects(promise, { code: 'ERR_STREAM_PREMATURE_CLOSE' })
    assert.equal(dispatcher.last.aborts.length, 1)
  })

  it('a Writable that was finished already: the rest of the response is let through', async () => {
    const dispatcher = new ScriptedDispatcher()
    const sink = new Sink()
    sink.end()
    await once(sink, 'finish')
    const promise = dispatcher.stream(GET, () => sink)
    dispatcher.last.start().head()
    const data = await promise
    dispatcher.last.data('dropped').end({ sum: '1' })
    assert.deepEqual(sink.chunks, [])
    assert.deepEqual(data.trailers, { sum: '1' })
    assert.deepEqual(dispatcher.last.aborts, [])
  })

  it('a failure of the request destroys the Writable and the request body', async () => {
    const dispatcher = new ScriptedDispatcher()
    const sink = new Sink()
    const body = new Readable({ read() {} })
    const failure = new Error('lost')
    const promise = dispatcher.stream({ path: '/', method: 'PUT', body }, () => sink)
    dispatcher.last.start().head().data('x').error(failure)
    await assert.rejects(promise, failure)
    assert.equal(sink.errored, failure)
    assert.equal(body.errored, failure)
    assert.deepEqual(dispatcher.last.aborts, [])
  })

  it('a failure before the head; what comes after it is ignored', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.stream(GET, () => assert.fail('no head'))
    dispatcher.last.start().error(new Error('lost')).head().data('x').end()
    await assert.rejects(promise, { message: 'lost' })
  })

  it('a Writable without destroy is left alone', async () => {
    const dispatcher = new ScriptedDispatcher()
    const bare = Object.assign(new EventEmitter(), { write: () => true, end() {} })
    const promise = dispatcher.stream(GET, () => bare as unknown as Writable)
    dispatcher.last.start().head().error(new Error('lost'))
    await assert.rejects(promise, { message: 'lost' })
  })

  it('is not started again after its head, nor given a second one', async () => {
    for (const again of ['start', 'head'] as const) {
      const dispatcher = new ScriptedDispatcher()
      const sink = new Sink()
      const promise = dispatcher.stream(GET, () => sink)
      dispatcher.last.start().head()
      dispatcher.last[again]()
      await assert.rejects(promise, RequestAbortedError)
      assert.equal(dispatcher.last.aborts.length, 1)
      assert.equal(sink.destroyed, true)
    }
  })
})

describe('stream(): signals', () => {
  it('aborted at any time: the reason; the listener goes', async () => {
    const reason = new Error('stop')
    for (const at of ['before', 'queued', 'started', 'head', 'factory']) {
      const dispatcher = new ScriptedDispatcher()
      const controller = new AbortController()
      const sink = new Sink()
      if (at === 'before') controller.abort(reason)
      const promise = dispatcher.stream({ ...GET, signal: controller.signal }, () => {
        if (at === 'factory') controller.abort(reason)
        return sink
      })
      if (at === 'started') dispatcher.last.start()
      if (at === 'head' || at === 'factory') dispatcher.last.start().head()
      controller.abort(reason)
      await assert.rejects(promise, reason)
      assert.equal(sink.destroyed, at === 'head' || at === 'factory', at)
      assert.equal(dispatcher.exchanges.length, at === 'before' ? 0 : 1)
    }
  })

  it('no listener after the end', async () => {
    const dispatcher = new ScriptedDispatcher()
    const signal = new EventEmitter()
    const promise = dispatcher.stream({ ...GET, signal }, () => new Sink())
    assert.equal(signal.listenerCount('abort'), 1)
    dispatcher.last.start().head().end()
    await promise
    assert.equal(signal.listenerCount('abort'), 0)
  })
})
