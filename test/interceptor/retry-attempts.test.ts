/** The time limit of an attempt, lists as functions, and the hook of each retry. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, errors, interceptors, type RetryEvent, RetryHandler, request } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { failure } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { GET, POST, retrying, steadyClock } from './retry-support.ts'

const coded = (code: string, rest: object = {}): Error => Object.assign(new Error(code), { code, ...rest })

test('attemptTimeout: an attempt without a head in time is given up and repeated, its body is not limited', async (t) => {
  const { base, send, clock } = retrying(t, { attemptTimeout: 100, minTimeout: 10, errorCodes: [] })
  const handler = send()
  base.last.start().head(103)
  await clock.advance(100)
  const reason = base.exchanges[0]!.aborts[0] as Error & Record<string, unknown>
  assert.equal(reason.message, 'No response head within the attemptTimeout of 100 ms')
  assert.ok(reason instanceof errors.HeadersTimeoutError)
  await clock.advance(10)
  assert.equal(base.exchanges.length, 2)
  base.last.start().head(200)
  await clock.advance(1000)
  base.last.data('x').end()
  assert.deepEqual([handler.errors, handler.story.at(-1)], [[], 'onResponseEnd'])
  assert.equal(clock.active.size, 0)
})

test('attemptTimeout: the last error says which request, how far it had come, and all attempts', async (t) => {
  const { send, base, clock } = retrying(t, { attemptTimeout: 100, minTimeout: 10, maxRetries: 1 })
  const handler = send({ path: '/secret?token=x' })
  base.last.start()
  await clock.advance(110)
  await clock.advance(100)
  const error = handler.error as unknown as Record<string, unknown>
  assert.deepEqual(
    [error['code'], error['attemptTimeout'], error['path'], error['phase'], error['retrySafety']],
    ['UND_ERR_HEADERS_TIMEOUT', 100, '/secret', 'queued', 'safe'],
  )
  assert.equal((error['attempts'] as unknown[]).length, 2)
})

test('attemptTimeout: a POST is repeated only if no connection had it', async (t) => {
  const { send, base, clock } = retrying(t, { attemptTimeout: 100, minTimeout: 10 })
  const waiting = send(POST)
  await clock.advance(110)
  assert.equal(base.exchanges.length, 2)
  assert.deepEqual(waiting.errors, [])
  const sent = send(POST)
  base.last.start()
  await clock.advance(100)
  const error = sent.error as unknown as Record<string, unknown>
  assert.deepEqual([error['phase'], error['retrySafety']], ['sending', 'idempotent-only'])
})

test('attemptTimeout: each attempt has all of it, also that of a request that ends or is aborted has no timer left', async (t) => {
  const { send, base, clock } = retrying(t, { attemptTimeout: 100, minTimeout: 10 })
  send()
  await clock.advance(60)
  base.last.error(coded('ECONNRESET'))
  await clock.advance(10)
  await clock.advance(60)
  assert.deepEqual(base.last.aborts, [])
  base.last.start().head(200).end()
  const aborted = send()
  base.last.start()
  aborted.controller!.abort(new Error('enough'))
  assert.equal(clock.active.size, 0)
})

test('attemptTimeout: a RetryHandler limits its first attempt from its start', async (t) => {
  const clock = steadyClock(t)
  const base = new ScriptedDispatcher()
  const handler = new RecordingHandler()
  const dispatch = (opts: typeof GET, inner: object): boolean => base.dispatch(opts, inner as never)
  const retryOptions = { attemptTimeout: 100, minTimeout: 10, jitter: 0 }
  dispatch(GET, new RetryHandler({ ...GET, retryOptions }, { dispatch: dispatch as never, handler }))
  base.last.start()
  await clock.advance(110)
  assert.equal(base.exchanges.length, 2)
})

test('timeouts: exceeded time limits are repeated, and without it are not', async (t) => {
  const codes = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']
  for (const timeouts of [true, false]) {
    for (const code of [...codes, 'UND_ERR_REQ_BODY_TIMEOUT']) {
      const { send, base, clock } = retrying(t, { timeouts, minTimeout: 10 })
      const [get, post] = [send(), send(POST)]
      for (const exchange of [...base.exchanges]) exchange.start().error(coded(code))
      await clock.advance(10)
      const isRepeated = timeouts && codes.includes(code)
      assert.deepEqual(
        [get.errors.length, post.errors.length],
        [isRepeated ? 0 : 1, 1],
        `${code} ${timeouts}`,
      )
    }
  }
})

test('lists as functions of those that would count without them', async (t) => {
  const seen: unknown[] = []
  const { base, clock, send } = retrying(t, {
    minTimeout: 10,
    methods: (methods) => [...methods, 'POST'],
    statusCodes: (statuses) => {
      seen.push(statuses)
      return statuses.filter((status) => status !== 500)
    },
    errorCodes: (codes) => [...codes, 'EMINE'],
  })
  assert.deepEqual(seen, [[500, 502, 503, 504, 429]])
  const lost = { retrySafety: 'idempotent-only' }
  for (const [error, count] of [
    [coded('EMINE'), 2],
    [coded('ECONNRESET'), 2],
    // What was repeated without the function still is: a lost connection has many codes.
    [coded('ERR_SSL_SOMETHING', lost), 2],
    [coded('UND_ERR_HEADERS_TIMEOUT', lost), 1],
  ] as const) {
    const before = base.exchanges.length
    send(POST)
    base.last.error(error)
    await clock.advance(10)
    assert.equal(base.exchanges.length - before, count, error.message)
  }
  const handler = send({ retryOptions: { statusCodes: (statuses: number[]) => [...statuses, 418] } } as never)
  base.last.start().head(418).end()
  await clock.advance(10)
  base.last.start().head(500).end()
  assert.deepEqual(handler.statuses, [500])
})

test('lists of functions are checked like others, and replace as others do', async (t) => {
  for (const name of ['methods', 'errorCodes', 'statusCodes'] as const) {
    const options = { [name]: () => 5 } as never
    assert.throws(() => interceptors.retry(options), {
      code: 'UND_ERR_INVALID_ARG',
      message: `invalid ${name}`,
    })
  }
  const { base, send } = retrying(t, { errorCodes: ['EMINE'] })
  const handler = send()
  base.last.error(coded('ERR_SSL_SOMETHING', { retrySafety: 'idempotent-only' }))
  assert.equal(handler.errors.length, 1)
})

test('onRetry is told of each retry, and waited for', async (t) => {
  const events: RetryEvent[] = []
  let done: () => void = () => {}
  const { base, clock, send } = retrying(t, {
    minTimeout: 10,
    onRetry: (event) => {
      events.push(event)
      if (events.length === 2) return new Promise<void>((resolve) => (done = resolve))
      return undefined
    },
  })
  send({ path: '/a' })
  const lost = coded('ECONNRESET')
  base.last.error(lost)
  await clock.advance(10)
  base.last.start().head(503, { a: 'b' }).end()
  await clock.advance(1000)
  assert.equal(base.exchanges.length, 2)
  done()
  await turns(2)
  await clock.advance(19)
  assert.equal(base.exchanges.length, 2)
  await clock.advance(1)
  assert.equal(base.exchanges.length, 3)
  const [first, second] = events
  const request = { origin: GET.origin, method: 'GET', path: '/a' }
  assert.deepEqual(first, { attempt: 1, error: lost, statusCode: undefined, delay: 10, ...request })
  assert.deepEqual(second, { attempt: 2, error: second!.error, statusCode: 503, delay: 20, ...request })
  assert.equal(second!.error.statusCode, 503)
})

test('onRetry: what it throws or rejects with fails the request', async (t) => {
  const reason = coded('EHOOK')
  const hooks = [
    () => {
      throw reason
    },
    () => Promise.reject(reason),
    () =>
      Object.defineProperty({}, 'then', {
        get() {
          throw reason
        },
      }) as never,
  ]
  for (const onRetry of hooks) {
    const { base, send, clock } = retrying(t, { onRetry })
    const handler = send()
    base.last.error(coded('ECONNRESET'))
    await turns(2)
    assert.deepEqual([handler.errors, base.exchanges.length, clock.active.size], [[reason], 1, 0])
  }
})

test('the error of a time limit counts the attempts', async (t) => {
  const controller = new AbortController()
  const base = new ScriptedDispatcher()
  const clock = steadyClock(t)
  const failed = base
    .compose(interceptors.retry({ minTimeout: 1 }))
    .request({ origin: 'http://a.test', path: '/', method: 'GET', signal: controller.signal })
    .catch((error: Error) => error)
  for (let retries = 0; retries < 2; retries++) {
    base.last.start()
    base.last.error(coded('ECONNRESET'))
    await turns(2)
    await clock.advance(1000)
  }
  base.last.start()
  controller.abort(new DOMException('late', 'TimeoutError'))
  const { message } = (await failed) as Error
  assert.match(message, /^GET http:\/\/a\.test\/ exceeded the time limit of its signal: 3 attempts, /)
})

test('onRetry that never answers: an abort ends the request at once', async (t) => {
  let answer: () => void = () => {}
  const onRetry = (): Promise<void> => new Promise<void>((resolve) => (answer = resolve))
  const { base, send, clock } = retrying(t, { onRetry })
  const handler = send()
  base.last.start().error(coded('ECONNRESET'))
  const reason = new Error('enough')
  handler.controller!.abort(reason)
  answer()
  await turns(2)
  assert.deepEqual([handler.errors, base.exchanges.length, clock.active.size], [[reason], 1, 0])
})

test('onRetry and attemptTimeout are checked', () => {
  for (const [name, wrong] of [
    ['onRetry', 5],
    ['attemptTimeout', 0],
    ['attemptTimeout', 'x'],
    ['timeouts', 'x'],
  ] as const) {
    const options = { [name]: wrong } as never
    assert.throws(() => interceptors.retry(options), { message: `invalid ${name}` })
  }
})

overEachWire('attemptTimeout over the wire', (wire) => {
  test('a silent server is asked again, and the next answer counts', async (t) => {
    let count = 0
    const { url } = await startOrigin(t, wire, (incoming, response) => {
      incoming.resume()
      if (++count > 1) response.end('here')
    })
    const agent = new Agent(wireOptions(wire))
    t.after(() => agent.destroy())
    const dispatcher = agent.compose(interceptors.retry({ attemptTimeout: 100, minTimeout: 1 }))
    const { body } = await request(url, { dispatcher })
    assert.equal(await body.text(), 'here')
    const { message } = await failure(
      request(url, { dispatcher, method: 'POST', body: 'x', signal: AbortSignal.abort(new Error('no')) }),
    )
    assert.equal(message, 'no')
  })
})
