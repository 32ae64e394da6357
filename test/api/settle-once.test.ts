/** Whatever a dispatcher, a peer and a caller do in whatever order, each request settles exactly once. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type Readable, Writable } from 'node:stream'
import { it } from 'node:test'
import fc from 'fast-check'
import type { BodyReadable } from '../../src/body/readable.ts'
import { turn } from '../support/fake-clock.ts'
import { type Exchange, ScriptedDispatcher } from './scripted-dispatcher.ts'

const STEPS = [
  'queued',
  'start',
  'info',
  'head',
  'data',
  'end',
  'error',
  'abort',
  'consume',
  'destroy',
  'turn',
]
type Step = (typeof STEPS)[number]

const scenario = fc.record({
  steps: fc.array(fc.constantFrom(...STEPS), { maxLength: 14 }),
  failsOnAbort: fc.boolean(),
})

async function play(
  steps: readonly Step[],
  exchange: Exchange,
  signal: EventEmitter,
  consume: () => void,
  destroy: () => void,
): Promise<void> {
  const { handler } = exchange
  for (const step of steps) {
    if (step === 'queued') handler.onRequestQueued?.((reason) => exchange.error(reason))
    else if (step === 'start') exchange.start()
    else if (step === 'info') exchange.head(103)
    else if (step === 'head') exchange.head()
    else if (step === 'data') exchange.data('x')
    else if (step === 'end') exchange.end()
    else if (step === 'error') exchange.error(new Error('lost'))
    else if (step === 'abort') signal.emit('abort')
    else if (step === 'consume') consume()
    else if (step === 'destroy') destroy()
    else await turn()
  }
  exchange.error(new Error('at last'))
  await turn()
  await turn()
}

it('request()', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, failsOnAbort }) => {
      const dispatcher = new ScriptedDispatcher()
      const signal = new EventEmitter()
      let calls = 0
      let collected = 0
      let collections = 0
      let body: BodyReadable | null = null
      dispatcher.request({ path: '/', method: 'GET', signal, onInfo() {} }, (_error, data) => {
        calls++
        body = data.body ?? null
        body?.on('error', () => {})
      })
      const exchange = dispatcher.last
      if (failsOnAbort) exchange.failOnAbort()
      const consume = (): void => {
        if (body === null) return
        collections++
        const count = (): void => void collected++
        body.text().then(count, count)
      }
      await play(steps, exchange, signal, consume, () => body?.destroy())
      assert.equal(calls, 1)
      assert.equal(collected, collections)
      assert.equal(signal.listenerCount('abort'), 0)
      if (body !== null) assert.equal((body as Readable).destroyed, true)
    }),
    { numRuns: 300 },
  )
})

it('stream()', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, failsOnAbort }) => {
      const dispatcher = new ScriptedDispatcher()
      const signal = new EventEmitter()
      const sink = new Writable({ write: (_chunk, _encoding, callback) => callback() })
      sink.on('error', () => {})
      let calls = 0
      let used = false
      const factory = (): Writable => {
        used = true
        return sink
      }
      dispatcher.stream({ path: '/', method: 'GET', signal }, factory, () => calls++)
      const exchange = dispatcher.last
      if (failsOnAbort) exchange.failOnAbort()
      await play(
        steps,
        exchange,
        signal,
        () => {},
        () => used && sink.destroy(),
      )
      assert.equal(calls, 1)
      assert.equal(signal.listenerCount('abort'), 0)
      assert.equal(sink.destroyed, used)
    }),
    { numRuns: 300 },
  )
})

it('pipeline()', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, failsOnAbort }) => {
      const dispatcher = new ScriptedDispatcher()
      const signal = new EventEmitter()
      const duplex = dispatcher.pipeline({ path: '/', method: 'PUT', signal }, ({ body }) => body)
      let closes = 0
      let errors = 0
      duplex.on('close', () => closes++)
      duplex.on('error', () => errors++)
      const exchange = dispatcher.last
      if (failsOnAbort) exchange.failOnAbort()
      const consume = (): void => {
        duplex.resume()
        if (!duplex.writableEnded && !duplex.destroyed) duplex.end()
      }
      await play(steps, exchange, signal, consume, () => duplex.destroy())
      assert.equal(closes, 1)
      assert.ok(errors <= 1)
      assert.equal(signal.listenerCount('abort'), 0)
    }),
    { numRuns: 300 },
  )
})
