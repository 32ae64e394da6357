/** Which response a request may wait for (`collapse`): never one of another method or variant, or one that is not stored. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import type { DispatchController, DispatchHandler } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { value } from './store-suite.ts'
import { type Answer, cached, installDate, ORIGIN, settle } from './support.ts'

const CONTROL = { 'cache-control': 'max-age=60' }

describe('collapse', () => {
  test('GET does not wait for HEAD', async (t) => {
    installDate(t)
    const origin = cached(
      ({ method }) => ({
        headers: { ...CONTROL, 'content-length': '5' },
        body: method === 'GET' ? 'hello' : '',
      }),
      { collapse: true, methods: ['GET', 'HEAD'] },
    )
    const [head, get] = await Promise.all([origin.get('/', {}, { method: 'HEAD' }), origin.get()])
    assert.deepEqual([head.body, get.body], ['', 'hello'])
    assert.equal(origin.received.length, 2)
  })

  test('another variant that comes while the body arrives is sent on its own', async (t) => {
    installDate(t)
    const origin = cached(
      ({ headers }): Answer => ({
        headers: { ...CONTROL, vary: 'accept', 'content-length': '5' },
        body: ['for ', String(headers['accept'])],
      }),
      { collapse: true },
    )
    const late = new RecordingHandler()
    const first = new RecordingHandler((method) => {
      if (method !== 'onResponseStart') return
      origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET', headers: { accept: 'b' } }, late)
    })
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET', headers: { accept: 'a' } }, first)
    assert.deepEqual([(await first.settled).body, (await late.settled).body], ['for a', 'for b'])
    assert.equal(origin.received.length, 2)
  })

  test('after a body of unknown length that was too long none waits', async (t) => {
    installDate(t)
    const answers: ((answer: Answer) => void)[] = []
    const origin = cached(() => new Promise<Answer>((resolve) => answers.push(resolve)), { collapse: true })
    const first = origin.get()
    await settle()
    answers[0]!({ headers: CONTROL, body: ['x'.repeat(3_000_000), 'x'.repeat(3_000_000)] })
    assert.equal((await first).body.length, 6_000_000)
    void origin.get()
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 3)
  })

  test('a body that arrives is wanted until the last caller gives up', async (t) => {
    installDate(t)
    const requests: DispatchHandler[] = []
    const aborts: unknown[] = []
    const dispatch = cache({ collapse: true })((_opts, handler) => {
      requests.push(handler)
      return true
    }, undefined)
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      abort: (reason: unknown) => aborts.push(reason),
      pause() {},
      resume() {},
    } as unknown as DispatchController
    const start = async (path: string): Promise<RecordingHandler[]> => {
      const callers = [new RecordingHandler(), new RecordingHandler()]
      for (const caller of callers) dispatch({ origin: ORIGIN, path, method: 'GET' }, caller)
      const handler = requests.at(-1)!
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, 200, { ...CONTROL, 'content-length': '5' }, 'OK')
      handler.onResponseData?.(controller, Buffer.from('he'))
      await settle()
      callers[0]!.controller!.abort(new Error('enough'))
      return callers
    }

    const [gone, stays] = await start('/one')
    assert.deepEqual([gone!.error?.message, aborts.length], ['enough', 0])
    requests[0]!.onResponseData?.(controller, Buffer.from('llo'))
    requests[0]!.onResponseEnd?.(controller, {})
    assert.equal((await stays!.settled).body, 'hello')

    const [, last] = await start('/both')
    last!.controller!.abort(new Error('enough'))
    assert.equal(aborts.length, 1)
    assert.equal(requests.length, 2)
  })

  test('the stored body of a request that waits for another is destroyed', async (t) => {
    const clock = installDate(t)
    const bodies: Readable[] = []
    const store = new MemoryCacheStore()
    store.get = () => {
      const body = Readable.from(['hello'])
      bodies.push(body)
      return { ...value({ etag: '"1"', staleAt: clock.now - 1 }), body }
    }
    const origin = cached({ status: 304, headers: CONTROL }, { store, collapse: true })
    const first = origin.get()
    void origin.get()
    assert.deepEqual(
      bodies.map((body) => body.destroyed),
      [false, true],
    )
    assert.equal((await first).body, 'hello')
  })
})
