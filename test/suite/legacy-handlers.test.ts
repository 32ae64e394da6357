import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import type { LegacyDispatchHandler } from '../../src/index.ts'
import { deferred, echo } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

/** A handler like that of the runtime's fetch, which records its calls. */
class LegacyRecorder implements LegacyDispatchHandler {
  readonly calls: string[] = []
  readonly done: Promise<void>
  body = ''
  raw: unknown[] = []
  trailers: unknown
  statusText = ''
  error: Error | null = null
  abort: ((reason?: unknown) => void) | null = null
  resume: (() => void) | null = null
  #finish!: () => void
  readonly #hooks: LegacyDispatchHandler

  constructor(hooks: LegacyDispatchHandler = {}) {
    this.#hooks = hooks
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  onConnect(abort: (reason?: unknown) => void, context: unknown): void {
    this.calls.push('onConnect')
    this.abort = abort
    this.#hooks.onConnect?.(abort, context)
  }

  onBodySent(): void {
    this.calls.push('onBodySent')
  }

  onRequestSent(): void {
    this.calls.push('onRequestSent')
  }

  onResponseStarted(): void {
    this.calls.push('onResponseStarted')
  }

  onHeaders(statusCode: number, raw: Buffer[], resume: () => void, statusText: string): unknown {
    this.calls.push(`onHeaders ${statusCode}`)
    this.raw = raw
    this.resume = resume
    this.statusText = statusText
    return this.#hooks.onHeaders ? this.#hooks.onHeaders(statusCode, raw, resume, statusText) : true
  }

  onData(chunk: Buffer): unknown {
    if (this.calls.at(-1) !== 'onData') this.calls.push('onData')
    this.body += chunk
    return this.#hooks.onData ? this.#hooks.onData(chunk) : true
  }

  onComplete(trailers: Buffer[]): void {
    this.calls.push('onComplete')
    this.trailers = trailers
    this.#finish()
  }

  onUpgrade(statusCode: number, raw: Buffer[], socket: Duplex): unknown {
    this.calls.push(`onUpgrade ${statusCode}`)
    this.raw = raw
    this.#finish()
    return this.#hooks.onUpgrade?.(statusCode, raw, socket)
  }

  onError(error: Error): void {
    this.calls.push('onError')
    this.error = error
    // As the runtime's fetch does.
    this.abort?.(error)
    this.#finish()
  }
}

overEachWay('handlers of the older generation', (way) => {
  test('are called in the same order, with flat Buffers', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        request.resume()
        response.sendDate = false
        response.writeHead(200, 'Fine', { 'X-Many': ['a', 'b'], trailer: 'X-Sum' })
        response.write('x')
        response.addTrailers({ 'X-Sum': '2' })
        response.end()
      })
    ).dispatcher()
    const handler = new LegacyRecorder()
    client.dispatch({ path: '/', method: 'POST', body: 'x' }, handler)
    await handler.done
    assert.deepEqual(handler.calls, [
      'onConnect',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onHeaders 200',
      'onData',
      'onComplete',
    ])
    assert.equal(
      handler.raw.every((part) => Buffer.isBuffer(part)),
      true,
    )
    const name = (text: string) => (way.multiplexes ? text.toLowerCase() : text)
    assert.deepEqual(handler.raw.slice(0, 4).map(String), [name('X-Many'), 'a', name('X-Many'), 'b'])
    assert.deepEqual((handler.trailers as Buffer[]).map(String), [name('X-Sum'), '2'])
    assert.equal(handler.statusText, way.multiplexes ? '' : 'Fine')
  })

  test('false pauses until resume is called', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('body'))).dispatcher()
    const head = deferred()
    const handler = new LegacyRecorder({
      onHeaders() {
        head.resolve()
        return false
      },
    })
    client.dispatch(GET, handler)
    await head.promise
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(handler.body, '')
    handler.resume?.()
    await handler.done
    assert.equal(handler.body, 'body')

    const data = deferred()
    const second = new LegacyRecorder({
      onData() {
        data.resolve()
        return false
      },
    })
    client.dispatch(GET, second)
    await data.promise
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(second.calls.at(-1), 'onData')
    second.resume?.()
    // No longer paused: nothing to do.
    second.resume?.()
    await second.done
    assert.equal(second.body, 'body')
  })

  test('false for an informational head does not pause', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeEarlyHints({ link: '</a>' })
        response.end('x')
      })
    ).dispatcher()
    const handler = new LegacyRecorder({ onHeaders: (statusCode) => statusCode >= 200 })
    client.dispatch(GET, handler)
    await handler.done
    assert.equal(handler.calls.includes('onHeaders 103'), true)
    assert.equal(handler.body, 'x')
  })

  test('abort, also from inside onConnect', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const own = new Error('mine')
    const early = new LegacyRecorder({ onConnect: (abort) => abort(own) })
    client.dispatch(GET, early)
    await early.done
    assert.deepEqual(early.calls, ['onConnect', 'onError'])
    assert.equal(early.error, own)
    const late = new LegacyRecorder({
      onHeaders() {
        late.abort?.(own)
        return true
      },
    })
    client.dispatch(GET, late)
    await late.done
    assert.equal(late.error, own)
    assert.equal(late.calls.filter((call) => call === 'onError').length, 1)
  })

  test('errors before the start reach onError', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new LegacyRecorder()
    assert.equal(client.dispatch({ path: 'wrong', method: 'GET' }, handler), false)
    assert.deepEqual(handler.calls, ['onError'])
    assert.equal(handler.error?.message, 'path must be an absolute URL or start with a slash')
  })

  test('an extra onRequestUpgrade, as Node 24 has it, does not make it a newer one', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = Object.assign(new LegacyRecorder(), { onRequestUpgrade() {} })
    client.dispatch(GET, handler)
    await handler.done
    assert.equal(handler.calls.at(-1), 'onComplete')
  })

  if (!way.multiplexes) {
    test('upgrade', async (t) => {
      const origin = await startOrigin(t, way, echo)
      origin.server.on('upgrade', (_request, socket: Duplex) => {
        socket.on('error', () => {})
        socket.write('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n')
      })
      const handler = new LegacyRecorder({ onUpgrade: (_status, _raw, socket) => socket.destroy() })
      origin.dispatcher().dispatch({ ...GET, upgrade: 'chat' }, handler)
      await handler.done
      assert.equal(handler.calls.at(-1), 'onUpgrade 101')
      assert.deepEqual(handler.raw.map(String), ['connection', 'upgrade', 'upgrade', 'chat'])
    })
  }
})
