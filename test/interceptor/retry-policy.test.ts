import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, it } from 'node:test'
import {
  type DiagnosticsChannel,
  interceptors,
  type RetryContext,
  type RetryOptions,
} from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turns } from '../support/fake-clock.ts'
import { errors, failed, GET, POST, REFUSED, RESET, retrying } from './retry-support.ts'

describe('interceptors.retry: options', () => {
  it('refuses wrong ones when it is made, and those of a request when that is made', (t) => {
    const wrong: Record<string, unknown[]> = {
      maxRetries: ['x', -2, 1.5, Number.NaN],
      minTimeout: ['x', -1, Number.NaN],
      maxTimeout: ['x', -1, Number.POSITIVE_INFINITY],
      timeoutFactor: ['x', -1, Number.NaN],
      retryAfter: [2, 'true'],
      throwOnError: [2, 'x'],
      methods: ['GET', [1]],
      statusCodes: [500, ['5xx']],
      errorCodes: ['x', [1]],
      retry: [5, {}],
      jitter: [-0.1, 1.1, 'x'],
      deadline: [0, -1, 'x'],
      maxRetryAfter: [-1, 'x'],
      idempotencyKey: ['x', 2],
      resume: ['weak', true, 1],
      budget: [5, 'x'],
    }
    const { send } = retrying(t)
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const expected = { name: 'InvalidArgumentError', message: `invalid ${name}` }
        assert.throws(() => interceptors.retry({ [name]: value } as RetryOptions), expected, name)
        assert.throws(() => send({ retryOptions: { [name]: value } }), expected, name)
      }
      assert.doesNotThrow(() => interceptors.retry({ [name]: null } as RetryOptions))
    }
    for (const [name, value] of [
      ['ratio', -1],
      ['minPerSecond', 'x'],
      ['ttl', 0],
    ]) {
      assert.throws(() => interceptors.retry({ budget: { [name as string]: value } }), {
        message: `invalid budget.${name}`,
      })
    }
    assert.throws(() => interceptors.retry(5 as never), { message: 'retryOptions must be an object' })
    assert.equal(typeof interceptors.retry({ maxRetries: Number.POSITIVE_INFINITY }), 'function')
  })

  it('those of a request win over those of the interceptor', async (t) => {
    const { base, clock, send } = retrying(t, { maxRetries: 5, minTimeout: 10 })
    const handler = send({ retryOptions: { maxRetries: 1 } })
    base.last.start().error(RESET())
    await clock.advance(10)
    assert.equal(base.exchanges.length, 2)
    base.last.start().error(RESET())
    assert.equal(handler.error?.message, 'failed')
  })

  it('a wrong call reaches the dispatcher', (t) => {
    const { base, dispatcher } = retrying(t)
    dispatcher.dispatch(null as never, {})
    assert.equal(base.last.opts, null)
    dispatcher.dispatch(GET, null as never)
    assert.equal(base.last.handler, null)
  })

  it('refuses an asynchronous function of methods or codes; its rejection does not end the process', async () => {
    const uncaught = await uncaughtDuring(() => {
      for (const name of ['methods', 'statusCodes', 'errorCodes']) {
        const options = { [name]: () => Promise.reject(new Error('later')) } as RetryOptions
        assert.throws(() => interceptors.retry(options), { message: `invalid ${name}` })
      }
    })
    assert.deepEqual(uncaught, [])
  })
})

describe('interceptors.retry: the default policy', () => {
  it('sends maxRetries more times, 5 by default, after waits that double', async (t) => {
    const { base, clock, send, delays } = retrying(t)
    const handler = send()
    for (const delay of [500, 1000, 2000, 4000, 8000]) {
      base.last.start().error(RESET())
      assert.deepEqual(delays(), [delay])
      await clock.advance(delay)
    }
    assert.equal(base.exchanges.length, 6)
    assert.equal(handler.errors.length, 0)
    const last = RESET()
    base.last.start().error(last)
    assert.equal(handler.error, last)
    assert.deepEqual(delays(), [])
  })

  it('waits as minTimeout, timeoutFactor and maxTimeout say', async (t) => {
    const { base, clock, send, delays } = retrying(t, { minTimeout: 10, timeoutFactor: 3, maxTimeout: 50 })
    send()
    for (const delay of [10, 30, 50, 50]) {
      base.last.start().error(RESET())
      assert.deepEqual(delays(), [delay])
      await clock.advance(delay)
    }
  })

  it('the wait keeps the process alive', (t) => {
    const { base, clock, send } = retrying(t)
    send()
    base.last.start().error(RESET())
    assert.deepEqual(
      [...clock.active].map(({ referenced }) => referenced),
      [true],
    )
  })

  const rows: [what: string, error: () => Error, options: object, again: boolean][] = [
    ...[
      'ECONNRESET',
      'ECONNREFUSED',
      'ENOTFOUND',
      'ENETDOWN',
      'ENETUNREACH',
      'EHOSTDOWN',
      'EHOSTUNREACH',
      'EPIPE',
      'UND_ERR_SOCKET',
    ].map((code): [string, () => Error, object, boolean] => [code, () => failed(code), GET, true]),
    ['UND_ERR_CONNECT_TIMEOUT of another library', () => new errors.ConnectTimeoutError(), GET, false],
    ['a head timeout', () => failed('UND_ERR_HEADERS_TIMEOUT', 'idempotent-only'), GET, false],
    ['a body timeout', () => failed('UND_ERR_BODY_TIMEOUT', 'idempotent-only'), GET, false],
    ['a headers timeout', () => failed('UND_ERR_HEADERS_TIMEOUT', 'idempotent-only'), GET, false],
    ['ETIMEDOUT', () => failed('ETIMEDOUT'), GET, false],
    ['EAI_AGAIN', () => failed('EAI_AGAIN'), GET, false],
    ['an error without a code', () => new Error('x'), GET, false],
    ['a value that is no error', () => 'x' as never, GET, false],
    ['a POST that may have arrived', RESET, POST, false],
    ['a POST of another library', () => failed('ECONNREFUSED'), POST, false],
    ['a POST that is safe', REFUSED, POST, true],
    ['a connect timeout that is safe', () => failed('UND_ERR_CONNECT_TIMEOUT', 'safe'), POST, true],
    ['a refused stream', () => failed('ERR_HTTP2_STREAM_ERROR', 'safe'), POST, true],
    ['a POST that the caller calls idempotent', RESET, { ...POST, idempotent: true }, true],
    ['a GET that the caller calls not idempotent', RESET, { ...GET, idempotent: false }, false],
    ['one that is safe, and not idempotent', REFUSED, { ...GET, idempotent: false }, true],
    ['the verdict no', () => failed('ECONNRESET', 'no'), GET, false],
    ['the verdict no, and a body as string', () => failed('ECONNRESET', 'no'), { ...GET, body: 'x' }, false],
    [
      'a destroyed dispatcher',
      () => Object.assign(new errors.ClientDestroyedError(), { retrySafety: 'safe' }),
      GET,
      false,
    ],
    [
      'a closed dispatcher',
      () => Object.assign(new errors.ClientClosedError(), { retrySafety: 'safe' }),
      GET,
      false,
    ],
    [
      'an inner responseError of the list',
      () => new errors.ResponseError('x', 503, { headers: {} }),
      GET,
      true,
    ],
    [
      'an inner responseError of another status',
      () => new errors.ResponseError('x', 404, { headers: {} }),
      GET,
      false,
    ],
  ]
  for (const [what, error, options, again] of rows) {
    it(`${what}: ${again ? 'again' : 'gives up'}`, (t) => {
      const { base, send, delays } = retrying(t)
      const handler = send(options)
      base.last.start().error(error())
      assert.equal(delays().length, again ? 1 : 0)
      assert.equal(handler.errors.length, again ? 0 : 1)
    })
  }

  it('every method of the list is repeated; POST, PATCH and CONNECT are not, unless the list has them', (t) => {
    const { base, send, delays } = retrying(t)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'QUERY']) {
      send({ method })
      base.last.start().error(RESET())
    }
    assert.equal(delays().length, 7)
    for (const method of ['POST', 'PATCH', 'CONNECT']) {
      send({ method })
      base.last.start().error(RESET())
    }
    assert.equal(delays().length, 7)
    send({ method: 'POST', retryOptions: { methods: ['POST'] } })
    base.last.start().error(RESET())
    assert.equal(delays().length, 8)
  })

  it('every status of the list is repeated, and no other', (t) => {
    const { base, send, delays } = retrying(t)
    for (const status of [500, 502, 503, 504, 429]) {
      send()
      base.last.start().head(status).end()
    }
    assert.equal(delays().length, 5)
    for (const status of [200, 301, 400, 404, 408, 501, 505]) {
      const handler = send()
      base.last.start().head(status).data('x').end()
      assert.deepEqual(handler.story.slice(1), [
        `onResponseStart ${status}`,
        'onResponseData',
        'onResponseEnd',
      ])
    }
    assert.equal(delays().length, 5)
  })
})

describe('interceptors.retry: Retry-After', () => {
  const wait = (t: Parameters<typeof retrying>[0], value: string | string[], options: RetryOptions = {}) => {
    t.mock.method(Date, 'now', () => Date.parse('Tue, 01 Jan 2030 00:00:00 GMT'))
    const { base, send, delays } = retrying(t, options)
    const handler = send()
    base.last.start().head(503, { 'retry-after': value }).end()
    return { delay: delays()[0], error: handler.error as (Error & { retryAfter?: number }) | undefined }
  }
  const rows: [value: string | string[], delay: number][] = [
    ['0', 0],
    ['2', 2000],
    ['0.05', 50],
    ['Tue, 01 Jan 2030 00:00:07 GMT', 7000],
    ['Tuesday, 01-Jan-30 00:00:03 GMT', 3000],
    ['Tue, 01 Jan 2030 01:00:00 GMT', 30_000],
    ['Mon, 31 Dec 2029 00:00:00 GMT', 0],
    ['999999', 30_000],
    ['-1', 500],
    ['', 500],
    ['soon', 500],
    ['2030', 30_000],
    ['Tue, 99 Foo', 500],
    [['1', '3'], 3000],
    [['1', 'x'], 1000],
    [['x', 'y'], 500],
  ]
  for (const [value, delay] of rows) {
    it(`${JSON.stringify(value)}: ${delay} ms`, (t) => {
      assert.equal(wait(t, value).delay, delay)
    })
  }

  it('is ignored with retryAfter: false', (t) => {
    assert.equal(wait(t, '2', { retryAfter: false }).delay, 500)
  })

  it('maxRetryAfter: a longer one gives up at once, and the error has it', (t) => {
    const { delay, error } = wait(t, '3600', { maxRetryAfter: 60_000 })
    assert.equal(delay, undefined)
    assert.equal(error?.retryAfter, 3_600_000)
    assert.equal(error?.message, 'Request failed')
  })

  it('maxRetryAfter: a shorter one is waited for, whatever maxTimeout is', (t) => {
    assert.equal(wait(t, '60', { maxRetryAfter: 60_000 }).delay, 60_000)
  })

  it('security row 8: numbers of any size and form neither wait forever nor not at all', (t) => {
    for (const value of ['1e308', '-0', 'Infinity', 'NaN', '0x10', ' '])
      assert.equal(wait(t, value).delay, 500)
    const digits = '9'.repeat(10 * 1024)
    assert.equal(wait(t, digits).delay, 30_000)
    assert.equal(wait(t, `Tue, ${'x'.repeat(10 * 1024)}`).delay, 500)
    assert.equal(wait(t, digits, { maxRetryAfter: 1e300 }).error?.retryAfter, Number.POSITIVE_INFINITY)
    // More than a timer can wait: the runtime would make one millisecond of it.
    assert.equal(wait(t, '9'.repeat(20), { maxRetryAfter: 1e300 }).delay, 2 ** 31 - 1)
  })
})

describe('interceptors.retry: jitter', () => {
  const delaysWith = (
    t: Parameters<typeof retrying>[0],
    random: number,
    options: RetryOptions,
    value?: string,
  ) => {
    t.mock.method(Math, 'random', () => random)
    const { base, send, delays } = retrying(t, options)
    send()
    if (value === undefined) base.last.start().error(RESET())
    else base.last.start().head(503, { 'retry-after': value }).end()
    return delays()[0]
  }

  it('adds up to a quarter by default', (t) => {
    const { jitter: _, ...options } = { jitter: 0 }
    assert.equal(delaysWith(t, 0, { ...options, jitter: null }), 500)
    assert.equal(delaysWith(t, 1, { ...options, jitter: null }), 625)
    assert.equal(delaysWith(t, 0.5, { jitter: 1 }), 750)
  })

  it('takes it off at the cap', (t) => {
    const options = { minTimeout: 1000, maxTimeout: 1000, jitter: 0.25 }
    assert.equal(delaysWith(t, 0, options), 750)
    assert.equal(delaysWith(t, 1, options), 1000)
  })

  it('waits no shorter than the server asks, and at most a second longer', (t) => {
    assert.equal(delaysWith(t, 0, { jitter: 0.25 }, '2'), 2000)
    assert.equal(delaysWith(t, 1, { jitter: 0.25 }, '2'), 2500)
    assert.equal(delaysWith(t, 1, { jitter: 0.25 }, '20'), 21_000)
    assert.equal(delaysWith(t, 1, { jitter: 0.25 }, '0'), 0)
  })
})

describe('interceptors.retry: limits', () => {
  it('deadline: a wait that would end later is not begun', async (t) => {
    const { base, clock, send, delays } = retrying(t, { deadline: 1000, minTimeout: 400 })
    const handler = send()
    await clock.advance(100)
    base.last.start().error(RESET())
    assert.deepEqual(delays(), [400])
    await clock.advance(400)
    const last = RESET()
    base.last.start().error(last)
    assert.equal(handler.error, last)
  })

  it('budget: a share of the requests, and a few per second in any case', (t) => {
    const { base, clock, send } = retrying(t, { budget: { ratio: 0.5, minPerSecond: 0.1, ttl: 10_000 } })
    const waits = (count: number): number => {
      clock.active.clear()
      for (let i = 0; i < count; i++) {
        send()
        base.last.start().error(RESET())
      }
      return clock.active.size
    }
    // One that needs no requests, and half of the ten.
    assert.equal(waits(10), 6)
    const handler = send()
    const error = RESET() as Error & { retryBudget?: string }
    base.last.start().error(error)
    assert.equal(handler.error, error)
    assert.equal(error.retryBudget, 'exhausted')
    const other = send({ origin: 'http://b.test' })
    base.last.start().error(RESET())
    assert.equal(other.errors.length, 0)
    clock.now += 11_000
    assert.equal(waits(1), 1)
  })

  it('budget: all spellings of an origin share one', (t) => {
    const { base, send, delays } = retrying(t, { budget: { ratio: 0, minPerSecond: 0.1, ttl: 10_000 } })
    for (const origin of ['http://a.test', 'http://a.test/', 'HTTP://A.test:80']) {
      send({ origin })
      base.last.start().error(RESET())
    }
    assert.equal(delays().length, 1)
  })

  it('budget: one retry that is safe is free', async (t) => {
    const { base, clock, send, delays } = retrying(t, { budget: { ratio: 0, minPerSecond: 0 } })
    const handler = send(POST)
    base.last.start().error(REFUSED())
    assert.deepEqual(delays(), [500])
    await clock.advance(500)
    base.last.start().error(REFUSED())
    assert.equal((handler.error as { retryBudget?: string }).retryBudget, 'exhausted')
  })

  it('budget: true has the defaults, false has none', (t) => {
    const { base, send, delays } = retrying(t, { budget: true })
    for (let i = 0; i < 130; i++) {
      send()
      base.last.start().error(RESET())
    }
    // Ten per second over ten seconds, and a fifth of the requests.
    assert.equal(delays().length, 126)
    send({ retryOptions: { budget: false } })
    base.last.start().error(RESET())
    assert.equal(delays().length, 127)
  })

  it('an open circuit is waited for, as long as it says at least', (t) => {
    const { base, send, delays } = retrying(t)
    send(POST)
    base.last.error(new errors.CircuitOpenError(undefined, 4000))
    send(POST)
    base.last.error(new errors.CircuitOpenError(undefined, 0))
    assert.deepEqual(delays(), [4000, 500])
  })
})

describe('interceptors.retry: idempotencyKey', () => {
  const key = (opts: { headers?: unknown }): string | undefined => {
    const { headers } = opts as { headers: string[] }
    const at = headers.findIndex((name) => name.toLowerCase() === 'idempotency-key')
    return at === -1 ? undefined : headers[at + 1]
  }

  it('gives a POST or PATCH one key for all its attempts, and repeats it', async (t) => {
    for (const method of ['POST', 'PATCH']) {
      const { base, clock, send } = retrying(t, { idempotencyKey: true })
      send({ ...POST, method, headers: { a: 'b' } })
      const first = key(base.last.opts)
      assert.match(first ?? '', /^[\da-f]{8}-[\da-f-]{27}$/)
      assert.ok((base.last.opts.headers as string[]).includes('a'))
      base.last.start().error(RESET())
      await clock.advance(500)
      assert.equal(base.exchanges.length, 2)
      assert.equal(key(base.last.opts), first)
      send(POST)
      assert.notEqual(key(base.last.opts), first)
    }
  })

  it('keeps the one of the caller', (t) => {
    const { base, send, delays } = retrying(t, { idempotencyKey: true })
    for (const headers of [
      { 'Idempotency-Key': 'mine' },
      ['idempotency-key', 'mine'],
      new Map([['IDEMPOTENCY-KEY', 'mine']]),
    ]) {
      send({ ...POST, headers })
      assert.equal(base.last.opts.headers, headers)
      base.last.start().error(RESET())
    }
    assert.equal(delays().length, 3)
  })

  it('other methods get none; without the option nothing changes', (t) => {
    const { base, send, delays } = retrying(t, { idempotencyKey: true })
    send({ method: 'PUT' })
    assert.equal(base.last.opts.headers, undefined)
    send({ ...POST, headers: { 'idempotency-key': 'mine' }, retryOptions: { idempotencyKey: false } })
    base.last.start().error(RESET())
    assert.deepEqual(delays(), [])
  })
})

describe('interceptors.retry: what can be seen', () => {
  it('the last error lists the attempts', async (t) => {
    const { base, clock, send } = retrying(t, { maxRetries: 2 })
    const handler = send()
    base.last.start().error(RESET())
    await clock.advance(500)
    base.last.start().head(503).end()
    await clock.advance(1000)
    base.last.start().error(failed('EPIPE'))
    assert.deepEqual((handler.error as { attempts?: unknown }).attempts, [
      { code: 'ECONNRESET', at: 1000, delay: 500 },
      { statusCode: 503, at: 1500, delay: 1000 },
      { code: 'EPIPE', at: 2500, delay: null },
    ])
  })

  it('an error that cannot have fields is passed on as it is', (t) => {
    const { base, send } = retrying(t, { maxRetries: 0 })
    const frozen = Object.freeze(RESET())
    const handler = send()
    base.last.start().error(frozen)
    assert.equal(handler.error, frozen)
  })

  it('the channel ventuno:request:retry reports each', async (t) => {
    const messages: DiagnosticsChannel.RequestRetryMessage[] = []
    const listen = (message: unknown): void => {
      messages.push(message as DiagnosticsChannel.RequestRetryMessage)
    }
    subscribe('ventuno:request:retry', listen)
    t.after(() => unsubscribe('ventuno:request:retry', listen))
    const { base, send } = retrying(t)
    const error = RESET()
    send()
    base.last.start().error(error)
    assert.deepEqual(messages, [{ ...GET, error, counter: 1, delay: 500 }])
    send({
      retryOptions: { retry: (_error: Error, _context: unknown, again: (e: null) => void) => again(null) },
    })
    base.last.start().error(error)
    await turns(1)
    assert.equal(messages[1]?.delay, null)
  })
})

describe('interceptors.retry: a policy of the caller', () => {
  type Policy = NonNullable<RetryOptions['retry']>

  it('gets the error, the counter and complete options, and decides alone', async (t) => {
    const seen: [Error, RetryContext][] = []
    const policy: Policy = (error, context, callback) => {
      seen.push([error, context])
      callback(seen.length < 3 ? null : error)
    }
    const { base, send, delays } = retrying(t, { retry: policy, maxRetries: 0 })
    const handler = send({ ...POST, retryOptions: { minTimeout: 7 } })
    for (let i = 1; i <= 3; i++) {
      assert.equal(base.exchanges.length, i)
      base.last.start().error(failed('EWHATEVER', 'idempotent-only'))
      await turns(1)
    }
    assert.equal(handler.error, seen[2]![0])
    assert.deepEqual(
      seen.map(([, { state }]) => state.counter),
      [1, 2, 3],
    )
    const { opts } = seen[0]![1]
    assert.equal(opts.method, 'POST')
    const { maxRetries, minTimeout, maxTimeout, methods, statusCodes, retry } = opts.retryOptions!
    assert.deepEqual([maxRetries, minTimeout, maxTimeout], [0, 7, 30_000])
    assert.deepEqual([methods?.[0], statusCodes], ['GET', [500, 502, 503, 504, 429]])
    assert.equal(retry, policy)
    assert.deepEqual(delays(), [])
  })

  it('one that throws settles the request', async (t) => {
    const thrown = new Error('in the policy')
    const { base, send } = retrying(t, {
      retry: () => {
        throw thrown
      },
    })
    const handler = send()
    base.last.start().error(RESET())
    await turns(1)
    assert.equal(handler.error, thrown)
    const held = send({ retryOptions: { throwOnError: false } })
    base.last.start().head(503)
    await turns(1)
    base.last.data('x').end()
    assert.equal(held.body, 'x')
  })

  it('an asynchronous one that rejects settles the request', async (t) => {
    const thrown = new Error('in the policy')
    const { base, send } = retrying(t, { retry: () => Promise.reject(thrown) })
    const handler = send()
    base.last.start().error(RESET())
    await turns(1)
    assert.equal(handler.error, thrown)
  })

  it('one that returns a thenable which rejects settles the request', async (t) => {
    const thrown = new Error('thrown')
    // biome-ignore lint/suspicious/noThenProperty: what another library may return
    const failing = { then: (_: unknown, reject: (reason: Error) => void) => reject(thrown) }
    const broken = {
      // biome-ignore lint/suspicious/noThenProperty: see above
      get then(): never {
        throw thrown
      },
    }
    for (const answer of [failing, broken]) {
      const { base, send } = retrying(t, { retry: () => answer as never })
      const handler = send()
      base.last.start().error(RESET())
      await turns(1)
      assert.deepEqual(handler.errors, [thrown])
    }
  })

  it('is not asked about a failure that it could not hand back', async (t) => {
    const { base, send } = retrying(t, { retry: (error, _context, callback) => callback(error) })
    for (const thrown of [null, undefined]) {
      const handler = send()
      base.last.start().error(thrown as never)
      await turns(1)
      assert.deepEqual(handler.errors, [thrown])
    }
    assert.equal(base.exchanges.length, 2)
  })

  it('its second answer, and one after an abort, are ignored', async (t) => {
    const answers: ((error?: Error | null) => void)[] = []
    const { base, send } = retrying(t, { retry: (_error, _context, callback) => void answers.push(callback) })
    const handler = send()
    base.last.start().error(RESET())
    answers[0]!(null)
    answers[0]!(new Error('late'))
    assert.equal(base.exchanges.length, 2)
    assert.equal(handler.errors.length, 0)
    base.last.start().error(RESET())
    handler.controller!.abort(new Error('enough'))
    answers[1]!(null)
    assert.equal(base.exchanges.length, 2)
    assert.equal(handler.error?.message, 'enough')
    assert.equal(handler.errors.length, 1)
  })

  it('a timer that it returns is cleared by an abort', (t) => {
    const { base, send, delays } = retrying(t, {
      retry: (_error, _context, callback) => setTimeout(callback, 50, null),
    })
    const handler = send()
    base.last.start().error(RESET())
    assert.deepEqual(delays(), [50])
    handler.controller!.abort()
    assert.deepEqual(delays(), [])
    assert.equal((handler.error as { code?: string }).code, 'UND_ERR_ABORTED')
  })

  it('is not asked about an abort, a spent body, or a response that cannot go on', async (t) => {
    let asked = 0
    const { base, send } = retrying(t, {
      retry: (error, _context, callback) => {
        asked++
        callback(error)
      },
    })
    const aborted = send()
    base.last.failOnAbort().start()
    aborted.controller!.abort(RESET())
    async function* body(): AsyncGenerator<string> {
      yield 'x'
    }
    send({ ...POST, body: body() })
    base.last.start().error(RESET())
    send({ method: 'PUT' })
    base.last.start().head(200).data('x').error(RESET())
    await turns(1)
    assert.equal(asked, 0)
  })
})

describe('interceptors.retry: lost connections', () => {
  for (const code of ['UND_ERR_INFO', 'UND_ERR_SOCKET', 'ETIMEDOUT']) {
    it(`${code}: retrySafety decides`, (t) => {
      const { base, send, delays } = retrying(t)
      send()
      base.last.start().error(failed(code, 'idempotent-only'))
      assert.deepEqual(delays(), [500])
      const post = send(POST)
      base.last.start().error(failed(code, 'idempotent-only'))
      assert.equal(post.errors.length, 1)
      const never = send()
      base.last.start().error(failed(code, 'no'))
      assert.equal(never.errors.length, 1)
    })
  }

  it('a list of the caller’s own codes is complete', (t) => {
    const { base, send, delays } = retrying(t, { errorCodes: ['ECONNRESET'] })
    assert.equal(send().errors.length, 0)
    base.last.start().error(failed('UND_ERR_INFO', 'idempotent-only'))
    assert.deepEqual(delays(), [])
  })
})
