import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HeaderObject, RetryOptions } from '../../src/index.ts'
import { NO_FACTS, stateFacts } from '../../src/relay/response-facts.ts'
import type { RecordingHandler } from '../support/recording-handler.ts'
import { type errors, GET, RESET, type RetrySetting, retrying } from './retry-support.ts'

type T = Parameters<typeof retrying>[0]

const FIRST: HeaderObject = {
  etag: '"a"',
  'content-length': '6',
  'last-modified': 'then',
  'content-type': 'text/plain',
}
const REST: HeaderObject = { ...FIRST, 'content-length': '3', 'content-range': 'bytes 3-5/6' }

interface Broken extends RetrySetting {
  readonly handler: RecordingHandler
}

/** A response whose first three bytes have arrived when its connection is lost; the wait is over. */
async function broken(
  t: T,
  first: HeaderObject = FIRST,
  options: RetryOptions = {},
  request = {},
  statusCode = 200,
  data = 'abc',
): Promise<Broken> {
  const all = retrying(t, { maxRetries: 2, ...options })
  const handler = all.send(request)
  all.base.last.start().head(statusCode, first)
  if (data !== '') all.base.last.data(data)
  all.base.last.error(RESET())
  await all.clock.advance(500)
  return { ...all, handler }
}

const fields = ({ base }: Broken): Record<string, string> => {
  const flat = (base.last.opts.headers ?? []) as string[]
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!]] : [])))
}

describe('interceptors.retry: a body that breaks off', () => {
  it('is completed with a range request, unseen by the handler', async (t) => {
    const all = await broken(
      t,
      FIRST,
      {},
      { headers: { Range: 'bytes=0-', 'If-Match': '"x"', 'if-range': '"y"', a: 'b' } },
    )
    assert.deepEqual(fields(all), { a: 'b', range: 'bytes=3-5', 'if-match': '"a"' })
    const { base, handler } = all
    base.last.start().handler.onRequestSent?.()
    base.last.handler.onResponseStarted?.()
    base.last.head(103).head(206, REST).data('de', 'f').end({ t: '1' })
    assert.equal(handler.body, 'abcdef')
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual(handler.trailers, { t: '1' })
  })

  it('more than once, and without a known length', async (t) => {
    const all = await broken(t, { etag: '"a"' })
    assert.equal(fields(all)['range'], 'bytes=3-')
    all.base.last.start().head(206, { etag: '"a"', 'content-range': 'bytes 3-5/*' }).data('d').error(RESET())
    await all.clock.advance(1000)
    assert.equal(fields(all)['range'], 'bytes=4-5')
    all.base.last.start().head(206, { etag: '"a"', 'content-range': 'bytes 4-5/6' }).data('ef').end()
    assert.equal(all.handler.body, 'abcdef')
    assert.equal(all.handler.calls.at(-1), 'onResponseEnd')
  })

  it('also if it is the range that the caller asked for', async (t) => {
    const part = { ...FIRST, 'content-length': '4', 'content-range': 'bytes 10-13/20' }
    const all = await broken(t, part, {}, { headers: { range: 'bytes=10-13' } }, 206)
    assert.equal(fields(all)['range'], 'bytes=13-13')
    all.base.last
      .start()
      .head(206, { ...FIRST, 'content-length': '1', 'content-range': 'bytes 13-13/20' })
      .data('d')
      .end()
    assert.equal(all.handler.body, 'abcd')
  })

  it('such a range is not completed from a representation of another size', async (t) => {
    const part = { ...FIRST, 'content-length': '4', 'content-range': 'bytes 10-13/20' }
    const all = await broken(t, part, {}, { headers: { range: 'bytes=10-13' } }, 206)
    all.base.last.start().head(206, { ...FIRST, 'content-length': '1', 'content-range': 'bytes 13-13/21' })
    assert.equal(all.handler.error?.message, 'Content-Range mismatch')
  })

  it('without a byte, the whole response is taken, if it is the same', async (t) => {
    const all = await broken(t, FIRST, {}, {}, 200, '')
    assert.deepEqual(fields(all), { 'if-match': '"a"' })
    all.base.last.start().head(200, FIRST).data('abcdef').end()
    assert.equal(all.handler.body, 'abcdef')
    for (const [other, message] of [
      [{ etag: '"b"' }, 'ETag mismatch'],
      [{ 'content-length': '7' }, 'Content-Length mismatch'],
    ] as const) {
      const one = await broken(t, FIRST, {}, {}, 200, '')
      one.base.last.start().head(200, { ...FIRST, ...other })
      assert.equal(one.handler.error?.message, message)
    }
  })

  const refusals: [what: string, statusCode: number, headers: HeaderObject, message: string][] = [
    ['another ETag', 206, { ...REST, etag: '"b"' }, 'ETag mismatch'],
    ['no ETag', 206, { 'content-range': 'bytes 3-5/6' }, 'ETag mismatch'],
    ['another last-modified', 206, { ...REST, 'last-modified': 'now' }, 'Last-Modified mismatch'],
    ['another content-type', 206, { ...REST, 'content-type': 'text/html' }, 'Content-Type mismatch'],
    ['another content-encoding', 206, { ...REST, 'content-encoding': 'gzip' }, 'Content-Encoding mismatch'],
    ['no content-range', 206, { etag: '"a"' }, 'Content-Range mismatch'],
    ['an unreadable content-range', 206, { ...REST, 'content-range': 'bytes 3-5' }, 'Content-Range mismatch'],
    ['a range from another byte', 206, { ...REST, 'content-range': 'bytes 2-5/6' }, 'Content-Range mismatch'],
    ['a range to another byte', 206, { ...REST, 'content-range': 'bytes 3-4/6' }, 'Content-Range mismatch'],
    ['a range backwards', 206, { ...REST, 'content-range': 'bytes 3-2/6' }, 'Content-Range mismatch'],
    ['another total', 206, { ...REST, 'content-range': 'bytes 3-5/7' }, 'Content-Range mismatch'],
    [
      'two ranges',
      206,
      { ...REST, 'content-range': ['bytes 3-5/6', 'bytes 3-5/6'] },
      'Content-Range mismatch',
    ],
    [
      'a length that is not that of the range',
      206,
      { ...REST, 'content-length': '2' },
      'Content-Length mismatch',
    ],
    [
      'the whole again',
      200,
      FIRST,
      'server does not support the range header and the payload was partially consumed',
    ],
    ['412', 412, {}, 'server does not support the range header and the payload was partially consumed'],
    ['404', 404, {}, 'server does not support the range header and the payload was partially consumed'],
  ]
  for (const [what, statusCode, headers, message] of refusals) {
    it(`is not completed by ${what}`, async (t) => {
      const { base, handler, delays } = await broken(t)
      base.last.start().head(statusCode, headers).data('def').end()
      const error = handler.error as errors.RequestRetryError
      assert.equal(error.message, message)
      assert.equal(error.code, 'UND_ERR_REQ_RETRY')
      assert.equal(error.statusCode, statusCode)
      assert.deepEqual(error.data, { count: 2 })
      assert.equal(handler.body, 'abc')
      assert.equal(handler.errors.length, 1)
      assert.equal(base.last.aborts.length, 1)
      assert.deepEqual(delays(), [])
    })
  }

  it('fields that a partial response may leave out', async (t) => {
    const { base, handler } = await broken(t)
    base.last.start().head(206, { etag: '"a"', 'content-range': 'bytes 3-5/6' }).data('def').end()
    assert.equal(handler.body, 'abcdef')
  })

  it('is not completed by more or fewer bytes than the range has', async (t) => {
    const { 'content-length': _, ...rest } = REST
    const longer = await broken(t)
    longer.base.last.start().head(206, rest).data('defg')
    assert.equal(longer.handler.error?.message, 'Content-Range mismatch')
    assert.equal(longer.handler.body, 'abc')
    const shorter = await broken(t)
    shorter.base.last.start().head(206, rest).data('de').end()
    assert.equal(shorter.handler.error?.message, 'Content-Range mismatch')
    assert.equal(shorter.handler.calls.includes('onResponseEnd'), false)
  })

  it('an unknown length must not become a part of the whole', async (t) => {
    const all = await broken(t, { etag: '"a"' })
    all.base.last.start().head(206, { etag: '"a"', 'content-range': 'bytes 3-4/6' })
    assert.equal(all.handler.error?.message, 'Content-Range mismatch')
  })

  it('a status of the list is tried again, up to maxRetries', async (t) => {
    const { base, clock, handler } = await broken(t)
    base.last.start().head(503).end()
    await clock.advance(1000)
    assert.equal(base.exchanges.length, 3)
    base.last.start().head(503).data('x').end()
    const error = handler.error as errors.RequestRetryError
    assert.equal(
      error.message,
      'server does not support the range header and the payload was partially consumed',
    )
    assert.deepEqual([error.statusCode, error.data], [503, { count: 3 }])
    assert.equal(handler.body, 'abc')
  })

  it('resume: any takes weak and missing tags, without a condition', async (t) => {
    for (const tag of [{ etag: 'W/"a"' }, {}]) {
      const all = await broken(t, { 'content-length': '6', ...tag })
      assert.deepEqual(fields(all), { range: 'bytes=3-5' })
      all.base.last
        .start()
        .head(206, { ...tag, 'content-range': 'bytes 3-5/6' })
        .data('def')
        .end()
      assert.equal(all.handler.body, 'abcdef')
    }
  })

  const never: [
    what: string,
    first: HeaderObject,
    options: RetryOptions,
    request: object,
    statusCode: number,
  ][] = [
    ['resume: strong and a weak tag', { ...FIRST, etag: 'W/"a"' }, { resume: 'strong' }, GET, 200],
    ['resume: strong and no tag', { 'content-length': '6' }, { resume: 'strong' }, GET, 200],
    ['resume: false', FIRST, { resume: false }, GET, 200],
    ['accept-ranges: none', { ...FIRST, 'accept-ranges': 'none' }, {}, GET, 200],
    ['a partial response of several parts', FIRST, {}, GET, 206],
    ['another status', FIRST, {}, GET, 203],
    ['another method', FIRST, {}, { method: 'PUT' }, 200],
    ['all bytes there', { ...FIRST, 'content-length': '3' }, {}, GET, 200],
  ]
  for (const [what, first, options, request, statusCode] of never) {
    it(`fails with ${what}`, async (t) => {
      const { base, handler } = await broken(t, first, options, request, statusCode)
      assert.equal(base.exchanges.length, 1)
      assert.equal((handler.error as { code?: string }).code, 'ECONNRESET')
      assert.equal(handler.body, 'abc')
    })
  }

  it('resume: strong takes a strong tag', async (t) => {
    assert.equal((await broken(t, FIRST, { resume: 'strong' })).base.exchanges.length, 2)
  })

  it('a body that an inner interceptor has changed is not resumed', (t) => {
    const { base, send, delays } = retrying(t)
    const handler = send()
    stateFacts(base.last.controller, { ...NO_FACTS, isTransformed: true })
    base.last.start().head(200, FIRST).data('abc').error(RESET())
    assert.equal(handler.errors.length, 1)
    assert.deepEqual(delays(), [])
  })

  it('a second final head of one attempt is for the handler to judge', (t) => {
    const { base, send } = retrying(t)
    const handler = send()
    base.last.start().head(200).head(201)
    assert.deepEqual(handler.statuses, [200, 201])
  })
})

describe('interceptors.retry: what identifies a response', () => {
  it('an ETag without quotes is sent and compared as it stands', async (t) => {
    const first = { ...FIRST, etag: 'abc-123' }
    const all = await broken(t, first)
    assert.equal(fields(all)['if-match'], 'abc-123')
    all.base.last
      .start()
      .head(206, { ...REST, etag: 'abc-123' })
      .data('def')
      .end()
    assert.equal(all.handler.body, 'abcdef')
    const other = await broken(t, first)
    other.base.last.start().head(206, { ...REST, etag: '"abc-123"' })
    assert.equal(other.handler.error?.message, 'ETag mismatch')
    assert.equal((await broken(t, first, { resume: 'strong' })).base.exchanges.length, 2)
  })

  for (const etag of ['W/abc', 'W/"abc"', '"abc', 'a"b']) {
    it(`${etag} is not a strong tag`, async (t) => {
      assert.equal(fields(await broken(t, { ...FIRST, etag }))['if-match'], undefined)
    })
  }

  it('a first 206 whose length is not that of its range fails and is not resumed', (t) => {
    const { base, send, delays } = retrying(t)
    const handler = send()
    const headers = { etag: '"a"', 'content-length': '7', 'content-range': 'bytes 3-5/6' }
    base.last.start().head(206, headers)
    const error = handler.error as errors.RequestRetryError
    assert.deepEqual(
      [error.code, error.message, error.statusCode],
      ['UND_ERR_REQ_RETRY', 'Content-Length mismatch', 206],
    )
    assert.deepEqual([handler.statuses, base.last.aborts.length, delays()], [[], 1, []])
  })
})
