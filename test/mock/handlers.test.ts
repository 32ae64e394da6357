/** What handlers and reply functions of mocked requests see, as programs written for undici expect it. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { type DispatchHandler, MockCallHistoryLog, MockClient } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { mocking, ORIGIN } from './mocking.ts'

/** A handler that calls back at its end, and has these methods besides. */
function ending(methods: DispatchHandler): { handler: DispatchHandler; ended: Promise<Error | null> } {
  let handler: DispatchHandler = methods
  const ended = new Promise<Error | null>((resolve) => {
    handler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd: () => resolve(null),
      onResponseError: (_controller, error) => resolve(error),
      ...methods,
    }
  })
  return { handler, ended }
}

describe('the methods of a handler', () => {
  for (const name of ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseError'] as const) {
    test(`${name} may be missing`, async (t) => {
      const { pool, agent } = mocking(t)
      pool.intercept({ path: '/' }).reply(200, 'body').times(2)
      for (const dispatch of [
        (handler: DispatchHandler) => pool.dispatch({ path: '/', method: 'GET' }, handler),
        (handler: DispatchHandler) => agent.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler),
      ]) {
        const { handler, ended } = ending({})
        delete handler[name]
        dispatch(handler)
        assert.equal(await ended, null)
      }
    })
  }

  test('the methods of a handler are called on it, and all may be missing', (t) => {
    class Partly {
      readonly #seen: string[] = []
      onResponseStart(): void {
        this.#seen.push('start')
      }
      onResponseEnd(): void {
        this.#seen.push('end')
      }
      get seen(): readonly string[] {
        return this.#seen
      }
    }
    const { pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'body').times(2)
    const partly = new Partly()
    pool.dispatch({ path: '/', method: 'GET' }, partly)
    assert.deepEqual(partly.seen, ['start', 'end'])
    pool.dispatch({ path: '/', method: 'GET' }, {})
  })
})

describe('an abort stops the reading of the body', () => {
  for (const [title, asked, methods] of [
    ['in onBodySent', 1, { onBodySent: () => abort() }],
    ['in onRequestStart', 0, { onBodySent() {}, onRequestStart: (controller) => controller.abort(REASON) }],
  ] as readonly [string, number, DispatchHandler][]) {
    test(`an abort ${title} stops the reading of the body`, async (t) => {
      const { pool } = mocking(t)
      pool.intercept({ path: '/', method: 'POST' }).reply(200)
      let calls = 0
      let returns = 0
      const body = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: `piece ${++calls}` }),
          return: async () => {
            returns++
            return { done: true, value: undefined }
          },
        }),
      }
      const { handler, ended } = ending({
        onRequestStart(controller) {
          abort = () => controller.abort(REASON)
        },
        ...methods,
      })
      pool.dispatch({ path: '/', method: 'POST', body: body as unknown as Readable }, handler)
      assert.equal(await ended, REASON)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([calls, returns], [asked, asked])
    })
  }
})

const REASON = new Error('enough')
let abort: () => void = () => {}

describe('a reply function gets', () => {
  const bodies: Record<string, () => unknown> = {
    'a stream': () => Readable.from(['a', 'b']),
    'an async iterable': () =>
      (async function* () {
        yield 'a'
        yield 'b'
      })(),
    'an iterable': () => ['a', 'b'].values(),
  }
  for (const [title, make] of Object.entries(bodies)) {
    for (const [situation, matcher] of [
      ['', undefined],
      [', after a matcher that got it as a string', (body: unknown) => body === 'ab'],
    ] as const) {
      for (const watches of [true, false]) {
        test(`a reply function gets ${title} in its pieces${situation}${watches ? ', and so does onBodySent' : ''}`, async (t) => {
          const { pool } = mocking(t)
          const pieces: string[] = []
          const sent: string[] = []
          pool
            .intercept({ path: '/', method: 'POST', ...(matcher && { body: matcher }) })
            .reply(200, async ({ body }) => {
              for await (const piece of body as AsyncIterable<unknown>) pieces.push(String(piece))
              return 'got'
            })
          const { handler, ended } = ending(
            watches ? { onBodySent: (piece: unknown) => void sent.push(String(piece)) } : {},
          )
          pool.dispatch({ path: '/', method: 'POST', body: make() as Readable }, handler)
          assert.equal(await ended, null)
          assert.deepEqual(pieces, ['a', 'b'])
          if (watches) assert.deepEqual(sent, ['a', 'b'])
        })
      }
    }
  }
})

describe('what is no reply', () => {
  for (const [title, made, message] of [
    ['nothing', undefined, 'reply options callback must return an object'],
    ['text', 'x', 'reply options callback must return an object'],
    ['null', null, 'reply options callback must return an object'],
    ['text as options', { statusCode: 200, responseOptions: 'x' }, 'responseOptions must be an object'],
    ['null as options', { statusCode: 200, responseOptions: null }, 'responseOptions must be an object'],
    ['no status', {}, 'statusCode must be defined'],
  ] as const) {
    test(`a reply function that returns ${title} makes dispatch throw`, async (t) => {
      const { pool, agent } = mocking(t)
      const client = new MockClient(ORIGIN, { agent })
      const expected = { name: 'InvalidArgumentError', message }
      for (const target of [pool, client]) {
        target
          .intercept({ path: '/' })
          .reply((() => made) as never)
          .times(2)
        let errors = 0
        const handler = { ...ending({}).handler, onResponseError: () => void errors++ }
        assert.throws(() => target.dispatch({ path: '/', method: 'GET' }, handler), expected)
        assert.equal(errors, 0)
        await assert.rejects(target.request({ path: '/', method: 'GET' }), expected)
      }
      pool.intercept({ path: '/agent' }).reply((() => made) as never)
      const failed = await failure(agent.request({ origin: ORIGIN, path: '/agent', method: 'GET' }))
      assert.equal(failed.message, message)
    })
  }
})

test('a log takes a query beside a path with a fragment', () => {
  const log = new MockCallHistoryLog({
    origin: 'http://a.test',
    path: '/endpoint#here',
    query: { a: '1' },
    method: 'GET',
  })
  assert.deepEqual(
    [log.path, log.hash, log.searchParams, log.fullUrl],
    ['/endpoint', '#here', { a: '1' }, 'http://a.test/endpoint?a=1#here'],
  )
})
