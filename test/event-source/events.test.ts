import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { type EventsInit, errors, events, type ServerEvent, setGlobalOrigin } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { overEachWire } from '../support/wire.ts'
import { ended, h1, lost, type Stage, setStage, status, stream } from './stage.ts'

/** The data of all events. */
async function dataOf(stage: Stage, init: EventsInit = {}): Promise<string[]> {
  const data: string[] = []
  for await (const event of events(stage.url, { dispatcher: stage.agent, ...init })) data.push(event.data)
  return data
}

overEachWire('a loop', (wire) => {
  test('gets the events, and ends with the stream', async (t) => {
    const stage = await setStage(t, wire, [ended('data: 1\n\nevent: a\nid: 7\ndata: 2\n\ndata: 3\n\n')])
    const got: ServerEvent[] = []
    for await (const event of events(stage.url, { dispatcher: stage.agent })) got.push(event)
    assert.deepEqual(got, [
      { event: 'message', data: '1', id: '' },
      { event: 'a', data: '2', id: '7' },
      { event: 'message', data: '3', id: '7' },
    ])
    assert.equal(stage.requests[0]!.headers.accept, 'text/event-stream')
  })

  test('sends any request', async (t) => {
    const stage = await setStage(t, wire, [ended('data: 1\n\n')])
    const headers = async (): Promise<Record<string, string>> => ({ authorization: 'Bearer 1' })
    await dataOf(stage, { method: 'POST', body: 'prompt', headers })
    const { method, headers: seen, body } = stage.requests[0]!
    assert.deepEqual([method, seen.authorization, await body], ['POST', 'Bearer 1', 'prompt'])
  })

  test('break ends the exchange', async (t) => {
    const stage = await setStage(t, wire, [stream('data: 1\n\ndata: 2\n\n')])
    let gone: Promise<unknown> | null = null
    for await (const { data } of events(stage.url, { dispatcher: stage.agent })) {
      assert.equal(data, '1')
      gone = once(stage.responses[0]!, 'close')
      break
    }
    await gone
  })

  test('a loop that throws ends the exchange', async (t) => {
    const stage = await setStage(t, wire, [stream('data: 1\n\n')])
    let gone: Promise<unknown> | null = null
    const loop = async (): Promise<void> => {
      for await (const { data } of events(stage.url, { dispatcher: stage.agent })) {
        gone = once(stage.responses[0]!, 'close')
        throw new Error(data)
      }
    }
    assert.equal((await failure(loop())).message, '1')
    await gone
  })

  test('a lost stream is resumed, one that ended is not', async (t) => {
    const stage = await setStage(t, wire, [lost('retry: 0\nid: 1\ndata: 1\n\n'), ended('data: 2\n\n')])
    assert.deepEqual(await dataOf(stage), ['1', '2'])
    assert.equal(stage.requests[1]!.headers['last-event-id'], '1')
  })

  test('a consumer that is busy slows the server down', async (t) => {
    const event = `data: ${'x'.repeat(1000)}\n\n`
    let written = 0
    const stage = await setStage(t, wire, [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const write = (): void => {
          while (written < 50_000_000) {
            written += event.length
            if (!response.write(event)) {
              response.once('drain', write)
              return
            }
          }
          response.end()
        }
        write()
      },
    ])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    assert.equal((await iterator.next()).done, false)
    // The server stops when the buffers between the two are full.
    let before = -1
    while (before !== written) {
      before = written
      await turns(50)
    }
    assert.ok(written < 30_000_000, `${written} bytes were sent`)
    let count = 1
    for await (const _ of iterator) count++
    assert.equal(count, Math.ceil(50_000_000 / event.length))
  })
})

describe('a failure', () => {
  test('a refused response throws with the explanation', async (t) => {
    const explanation = JSON.stringify({ error: 'too many' })
    const stage = await setStage(t, h1, [
      status(429, { 'retry-after': '5', 'content-type': 'application/json' }, explanation),
    ])
    const error = await failure(dataOf(stage))
    assert.ok(error instanceof errors.ResponseError)
    assert.equal(error.statusCode, 429)
    assert.equal((error.headers as Record<string, string>)['retry-after'], '5')
    assert.equal(error.body, explanation)
    assert.equal(error.bodyTruncated, false)
  })

  test('another type throws', async (t) => {
    const stage = await setStage(t, h1, [status(200, { 'content-type': 'text/html' }, '<p>')])
    const error = await failure(dataOf(stage))
    assert.deepEqual(
      [error.message, error['body']],
      ['Expected content-type text/event-stream, received another', '<p>'],
    )
  })

  test('when the retries are spent, the last error is thrown', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [lost(), status(503, {}, 'down')])
    const error = failure(dataOf(stage, { maxRetries: 1, retryStatus: [503], reconnectionTime: 777 }))
    await eventually(() => [...clock.active].some(({ delay }) => delay === 777))
    // The consumer waits for it.
    assert.ok([...clock.active].find(({ delay }) => delay === 777)!.referenced)
    await clock.advance(777)
    assert.equal((await error)['statusCode'], 503)
  })

  test('events before it are given first, and the loop is over after it', async (t) => {
    const stage = await setStage(t, h1, [ended('data: 1\n\ndata: 12345\n\n')], {
      eventSource: { maxEventSize: 4 },
    })
    const iterator = events(stage.url, { dispatcher: stage.agent })
    assert.equal((await iterator.next()).value?.data, '1')
    const error = await failure(iterator.next())
    assert.deepEqual(
      [error.message, error['code']],
      ['Event exceeds maxEventSize', 'UND_ERR_RES_EXCEEDED_MAX_SIZE'],
    )
    assert.deepEqual(await iterator.next(), { done: true, value: undefined })
  })

  test('an endless line fails after 16 MiB by default', async (t) => {
    const line = `data: ${'x'.repeat(1024 * 1024 - 6)}`
    const longest = line + 'x'.repeat(15 * 1024 * 1024 + 6)
    const stage = await setStage(t, h1, [ended(`${longest}\n\n${longest}x\n\n`)])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    assert.equal((await iterator.next()).value?.data.length, 16 * 1024 * 1024)
    const error = await failure(iterator.next())
    assert.equal(error.message, 'Event exceeds maxEventSize')
  })

  test('a stream body is not sent again', async (t) => {
    const stage = await setStage(t, h1, [lost('data: 1\n\n')])
    const iterator = events(stage.url, {
      dispatcher: stage.agent,
      method: 'POST',
      body: Readable.from(['prompt']),
    })
    assert.equal((await iterator.next()).value?.data, '1')
    await failure(iterator.next())
    assert.equal(stage.requests.length, 1)
  })
})

describe('a signal', () => {
  test('ends the loop with its reason, and what was read before is not given', async (t) => {
    const stage = await setStage(t, h1, [stream('data: 1\n\ndata: 2\n\n')])
    const controller = new AbortController()
    const iterator = events(stage.url, { dispatcher: stage.agent, signal: controller.signal })
    assert.equal((await iterator.next()).value?.data, '1')
    const gone = once(stage.responses[0]!, 'close')
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await failure(iterator.next()), reason)
    assert.equal((await iterator.next()).done, true)
    await gone
  })

  test('ends a wait for events', async (t) => {
    const stage = await setStage(t, h1, [stream()])
    const controller = new AbortController()
    const error = failure(dataOf(stage, { signal: controller.signal }))
    await eventually(() => stage.requests.length === 1)
    controller.abort()
    assert.equal((await error).name, 'AbortError')
  })

  test('ends the wait for the next attempt', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [lost()])
    const controller = new AbortController()
    const error = failure(dataOf(stage, { signal: controller.signal, reconnectionTime: 777 }))
    await eventually(() => [...clock.active].some(({ delay }) => delay === 777))
    controller.abort()
    assert.equal((await error).name, 'AbortError')
    assert.ok(![...clock.active].some(({ delay }) => delay === 777))
  })

  test('ends the wait for a function of the caller that never answers', async (t) => {
    const stage = await setStage(t, h1, [lost()])
    for (const name of ['headers', 'shouldReconnect'] as const) {
      const controller = new AbortController()
      let calls = 0
      const never = (): Promise<never> => {
        calls++
        return new Promise(() => {})
      }
      const error = failure(dataOf(stage, { signal: controller.signal, [name]: never }))
      await eventually(() => calls === 1)
      const reason = new Error('enough')
      controller.abort(reason)
      assert.equal(await error, reason)
    }
    assert.equal(stage.requests.length, 1)
  })

  test('that is aborted already prevents the request', async (t) => {
    const stage = await setStage(t, h1, [])
    assert.equal((await failure(dataOf(stage, { signal: AbortSignal.abort() }))).name, 'AbortError')
    const bare = Object.assign(new EventTarget(), { aborted: true, reason: undefined })
    assert.equal((await failure(dataOf(stage, { signal: bare as never }))).name, 'AbortError')
    assert.equal(stage.requests.length, 0)
  })
})

describe('the iterator', () => {
  test('sends nothing before the first event is asked for', async (t) => {
    const stage = await setStage(t, h1, [])
    events(stage.url, { dispatcher: stage.agent })
    await turns(10)
    assert.equal(stage.requests.length, 0)
  })

  test('answers several calls in their order', async (t) => {
    const stage = await setStage(t, h1, [ended('data: 1\n\ndata: 2\n\ndata: 3\n\n')])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    const results = await Promise.all(Array.from({ length: 5 }, () => iterator.next()))
    assert.deepEqual(
      results.map(({ value }) => value?.data),
      ['1', '2', '3', undefined, undefined],
    )
  })

  test('return() ends a call that waits', async (t) => {
    const stage = await setStage(t, h1, [stream()])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    const waiting = iterator.next()
    await eventually(() => stage.requests.length === 1)
    const gone = once(stage.responses[0]!, 'close')
    assert.deepEqual(await iterator.return(), { done: true, value: undefined })
    assert.deepEqual(await waiting, { done: true, value: undefined })
    await gone
  })

  test('throw() ends it, and rejects', async (t) => {
    const stage = await setStage(t, h1, [ended('data: 1\n\ndata: 2\n\n')])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    await iterator.next()
    const error = new Error('mine')
    assert.equal(await failure(iterator.throw(error)), error)
    assert.equal((await iterator.next()).done, true)
  })

  test('is disposable', {
    skip: !('asyncDispose' in Symbol) && 'the runtime has no such symbol',
  }, async (t) => {
    const stage = await setStage(t, h1, [ended('data: 1\n\n')])
    const iterator = events(stage.url, { dispatcher: stage.agent })
    const dispose = (Symbol as unknown as { asyncDispose: symbol }).asyncDispose
    await (iterator as unknown as Record<symbol, () => Promise<void>>)[dispose]!()
    assert.equal((await iterator.next()).done, true)
    assert.equal(stage.requests.length, 0)
  })
})

describe('options', () => {
  test('are checked at once', () => {
    for (const [init, message] of [
      [{ maxRetries: -1 }, 'invalid maxRetries'],
      [{ reconnect: 'never' }, 'invalid reconnect'],
      [{ signal: {} }, 'signal must be an EventEmitter or EventTarget'],
      [{ body: 'x' }, 'Request with GET/HEAD method cannot have body.'],
    ] as const) {
      assert.throws(() => events('http://localhost', init as never), { message })
    }
    assert.throws(() => events('nope'), { name: 'TypeError', message: 'Failed to parse URL from nope' })
  })

  test('comments are given if they are wanted', async (t) => {
    const stage = await setStage(t, h1, [ended(': ping\n\ndata: 1\n\n'), ended(': ping\n\ndata: 1\n\n')])
    const items: object[] = []
    for await (const item of events(stage.url, { dispatcher: stage.agent, comments: true })) items.push(item)
    assert.deepEqual(items, [{ comment: 'ping' }, { event: 'message', data: '1', id: '' }])
    assert.deepEqual(await dataOf(stage), ['1'])
  })

  test('of fetch are passed on', async (t) => {
    const stage = await setStage(t, h1, [status(302, { location: '/there' })])
    const error = await failure(dataOf(stage, { redirect: 'error', maxRetries: 0 }))
    assert.equal(error.message, 'unexpected redirect')
  })

  test('reconnect: always asks again for a stream that ended', async (t) => {
    const stage = await setStage(t, h1, [ended('retry: 0\ndata: 1\n\n'), ended('data: 2\n\n'), status(204)])
    const data: string[] = []
    const loop = async (): Promise<void> => {
      for await (const event of events(stage.url, { dispatcher: stage.agent, reconnect: 'always' })) {
        data.push(event.data)
      }
    }
    assert.equal((await failure(loop()))['statusCode'], 204)
    assert.deepEqual(data, ['1', '2'])
  })

  test('a relative URL is read relative to the global origin', async (t) => {
    const stage = await setStage(t, h1, [ended('data: 1\n\n')])
    setGlobalOrigin(stage.url)
    t.after(() => setGlobalOrigin(undefined))
    for await (const { data } of events('/path', { dispatcher: stage.agent })) assert.equal(data, '1')
    assert.equal(stage.requests[0]!.url, '/path')
  })
})
