/** The fields with which a server says how many requests it still accepts, as retry and throttle obey them. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type errors, interceptors, type RetryOptions } from '../../src/index.ts'
import { startOrigin } from '../support/wire.ts'
import { retrying } from './retry-support.ts'
import { setting } from './throttle-support.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

type Fields = Record<string, string | string[]>

const NOW = Date.UTC(2030, 0, 1)

/** What the fields of a refusal ask for; null if they ask for nothing. */
const REFUSALS: readonly [fields: Fields, wait: number | null][] = [
  [{ 'retry-after-ms': '1500' }, 1500],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
  [{ ratelimit: '"default";r=0;t=7' }, 7000],
  [{ ratelimit: 'default; r=0; t=7' }, 7000],
  [{ ratelimit: '"default";r=0;t=7', 'retry-after': '2' }, 2000],
  [{ ratelimit: '"day";r=100;t=500, "second";r=0;t=3' }, 3000],
  [{ ratelimit: ['"a";r=0;t=3', '"b";r=0;t=4'] }, 4000],
  [{ ratelimit: '"a;r=9, b";r=0;t=3;pk=:Y2Rk:' }, 3000],
  [{ ratelimit: '"a";r=0', 'ratelimit-policy': '"b";q=1;w=2, "a";q=100;w=6' }, 6000],
  [{ ratelimit: '"a";r=0;t=9', 'ratelimit-policy': '"a";q=9;qu="content-bytes"' }, null],
  [{ ratelimit: '"a";r=1;t=7' }, null],
  [{ ratelimit: '"a";r=0' }, null],
  [{ ratelimit: '"a";r=-1;t=7' }, null],
  [{ ratelimit: '"a";r=0;t=7, ???' }, null],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '8' }, 8000],
  [{ 'x-ratelimit-reset': '8' }, 8000],
  [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '8' }, null],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1000 + 11}` }, 11_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW + 11_500}` }, 11_500],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1000 - 11}` }, null],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'never' }, null],
  [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '8' }, 8000],
  [{ ratelimit: 'limit=10, remaining=0', 'x-ratelimit-reset': '5' }, 5000],
]

describe('interceptors.retry: the fields of a quota', () => {
  const wait = (t: TestContext, fields: Fields, options: RetryOptions = {}) => {
    t.mock.method(Date, 'now', () => NOW)
    const { base, send, delays } = retrying(t, { jitter: 0, ...options })
    const handler = send()
    base.last.start().head(503, fields).end()
    return { delay: delays()[0], error: handler.error as (Error & { retryAfter?: number }) | undefined }
  }

  for (const [fields, delay] of REFUSALS) {
    it(`${JSON.stringify(fields)}: ${delay ?? 'its own wait'}`, (t) => {
      assert.equal(wait(t, fields).delay, delay ?? 500)
    })
  }

  it('are ignored with retryAfter: false', (t) => {
    assert.equal(wait(t, { ratelimit: '"a";r=0;t=7' }, { retryAfter: false }).delay, 500)
  })

  it('a longer time than maxRetryAfter gives up at once, and the error has it', (t) => {
    const { delay, error } = wait(t, { 'x-ratelimit-reset': '3600' }, { maxRetryAfter: 60_000 })
    assert.deepEqual([delay, error?.retryAfter], [undefined, 3_600_000])
  })

  it('numbers and lists of any size neither wait forever nor take long', (t) => {
    const digits = '9'.repeat(10_000)
    assert.equal(wait(t, { 'x-ratelimit-reset': digits }).delay, 30_000)
    assert.equal(wait(t, { 'retry-after-ms': digits }).delay, 30_000)
    assert.equal(wait(t, { ratelimit: '"a";r=0;t=999999999999999' }).delay, 30_000)
    assert.equal(wait(t, { ratelimit: `"a";r=0;t=${digits}` }).delay, 500)
    for (const piece of ['"', '\\', '";r=0', '"a";r=0;t=5,', ';;', '; r=0', 'a*'])
      assert.ok(wait(t, { ratelimit: piece.repeat(60_000 / piece.length) }).delay! <= 30_000)
  })
})

describe('interceptors.throttle: the fields of a quota', () => {
  for (const [fields, delay] of REFUSALS) {
    it(`429 with ${JSON.stringify(fields)}: ${delay ?? 'no'} pause`, (t) => {
      t.mock.method(Date, 'now', () => NOW)
      const { send, sent, answer, clock } = setting(t)
      send('/1')
      answer('/1', 429, fields as Record<string, string>)
      send('/2')
      if (delay !== null) {
        clock.jump(delay - 1)
        assert.equal(sent.length, 1)
        clock.jump(1)
      }
      assert.equal(sent.length, 2)
    })
  }

  it('a success that uses the quota up holds its key up until there is a new one', (t) => {
    const { send, sent, answer, clock } = setting(t)
    send('/1')
    answer('/1', 200, { ratelimit: '"a";r=0;t=5' })
    send('/2')
    send('/b', { origin: 'http://b.test' })
    clock.jump(4999)
    assert.deepEqual(sent, ['/1', '/b'])
    clock.jump(1)
    assert.deepEqual(sent, ['/1', '/b', '/2'])
  })

  it('no more requests are sent than are left, those under way included', async (t) => {
    const { send, sent, answer, clock } = setting(t)
    for (let i = 1; i <= 3; i++) send(`/${i}`)
    answer('/1', 200, { ratelimit: '"a";r=4;t=60' })
    for (let i = 4; i <= 9; i++) send(`/${i}`)
    // Of the four that are left, two are /2 and /3.
    assert.equal(sent.length, 5)
    answer('/2', 200, { ratelimit: '"a";r=4;t=60' })
    await clock.advance(0)
    // The server had counted /3 already.
    assert.equal(sent.length, 6)
    clock.jump(59_999)
    assert.equal(sent.length, 6)
    clock.jump(1)
    assert.equal(sent.length, 9)
  })

  it('a response whose body takes its time is not counted as under way', async (t) => {
    const { send, sent, exchange } = setting(t)
    send('/long')
    exchange('/long').start().head(200, { ratelimit: '"a";r=1;t=60' })
    send('/2')
    send('/3')
    assert.deepEqual(sent, ['/long', '/2'])
  })

  it('a request that was not sent does not count', (t) => {
    const { send, sent, exchange, answer } = setting(t)
    send('/1')
    answer('/1', 200, { ratelimit: '"a";r=1;t=60' })
    send('/2')
    send('/3')
    assert.equal(sent.length, 2)
    exchange('/2').error(Object.assign(new Error('closed'), { code: 'UND_ERR_CLOSED' }))
    assert.equal(sent.length, 2 + 1)
  })

  it('a time that is longer than maxRetryAfter fails what waits, and is not waited for', (t) => {
    const { send, sent, answer, clock } = setting(t, { concurrency: 1, maxRetryAfter: 5000 })
    send('/1')
    const waiting = send('/2')
    answer('/1', 200, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9'.repeat(1000) })
    const error = waiting.error as errors.ThrottledError
    assert.deepEqual([error.code, error.retryAfter], ['UND_ERR_THROTTLED', Number.POSITIVE_INFINITY])
    clock.jump(5000)
    send('/3')
    answer('/3', 200, { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '9'.repeat(1000) })
    send('/4')
    answer('/4')
    send('/5')
    assert.equal(sent.length, 3)
    clock.jump(5000)
    assert.equal(sent.length, 4)
  })

  it('mean nothing with quotaFields: false, but retry-after does', (t) => {
    const { send, sent, answer } = setting(t, { quotaFields: false })
    send('/1')
    answer('/1', 429, { ratelimit: '"a";r=0;t=5' })
    send('/2')
    answer('/2', 200, { ratelimit: '"a";r=0;t=5' })
    send('/3')
    assert.equal(sent.length, 3)
    answer('/3', 429, { 'retry-after-ms': '5' })
    send('/4')
    assert.equal(sent.length, 3)
  })
})

overTwoWires('the fields of a quota', (wire) => {
  it('hold a throttle up, so that the server refuses nothing', async (t) => {
    let left = 0
    let windows = 0
    let refused = 0
    const { url } = await startOrigin(t, wire, (_request, response) => {
      if (left === 0 && windows < 3) {
        windows++
        left = 5
      }
      if (left === 0) refused++
      else left--
      // The responses may come in another order: then the throttle waits for this second.
      response.setHeader('ratelimit', `"a";r=${left};t=${left === 0 ? 0 : 1}`)
      response.end()
    })
    const agent = composedAgent(t, wire, interceptors.throttle())
    const get = async (): Promise<void> => {
      const { body } = await agent.request({ origin: url, path: '/', method: 'GET' })
      await body.dump()
    }
    await get()
    // Four are left in this window, and the last of them says that the next one begins at once.
    await Promise.all(Array.from({ length: 8 }, get))
    assert.deepEqual([refused, windows], [0, 2])
  })
})
