/** Aborts, handlers and bodies with an error that throws when anything of it is read: nobody is left waiting for it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { it } from 'node:test'
import { CookieJar, type DispatchHandler, type Interceptor, interceptors } from '../../src/index.ts'
import { deferred } from '../support/exchange.ts'
import { Telemetry } from '../support/telemetry.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

/** Node reads the `stack` of whatever destroys a stream. */
function unreadable(): Error {
  const refuse = (): never => {
    throw new Error('must not be read')
  }
  return new Proxy(new Error('unreadable'), {
    get: refuse,
    set: refuse,
    has: refuse,
    defineProperty: refuse,
    getPrototypeOf: refuse,
    getOwnPropertyDescriptor: refuse,
    ownKeys: refuse,
  })
}

/** Compared without a look at the error. */
async function rejectsWith(promise: Promise<unknown>, error: unknown): Promise<void> {
  const outcome = await promise.then(
    () => null,
    (reason: unknown) => ({ reason }),
  )
  assert.ok(outcome !== null && outcome.reason === error)
}

/** A failure counts as well. */
function closing(stream: Readable): Promise<void> {
  return new Promise((resolve) => void stream.on('error', () => {}).on('close', resolve))
}

const RELAYS: Readonly<Record<string, () => Interceptor>> = {
  redirect: () => interceptors.redirect(),
  retry: () => interceptors.retry(),
  'retry with a policy': () => interceptors.retry({ retry: (error, _context, callback) => callback(error) }),
  responseError: () => interceptors.responseError(),
  dump: () => interceptors.dump(),
  dns: () => interceptors.dns(),
  cache: () => interceptors.cache(),
  deduplicate: () => interceptors.deduplicate(),
  decompress: () => interceptors.decompress(),
  throttle: () => interceptors.throttle({ concurrency: 1 }),
  circuitBreaker: () => interceptors.circuitBreaker(),
  hedge: () => interceptors.hedge({ delay: 1000 }),
  metrics: () => interceptors.metrics({ meter: new Telemetry().meter }),
  cookies: () => interceptors.cookies({ jar: new CookieJar() }),
}

overEachWire('an error that cannot be read', (wire) => {
  it('aborts a request, the reading of its body and its upload', async (t) => {
    const begun = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      response.on('error', () => {})
      if (request.method === 'POST') request.once('data', () => begun.resolve())
      else response.write('a')
    })
    const client = origin.client()
    const error = unreadable()

    const upload = new AbortController()
    const body = new Readable({ read() {} })
    body.push('a')
    const sent = client.request({ path: '/', method: 'POST', body, signal: upload.signal })
    await begun.promise
    upload.abort(error)
    await rejectsWith(sent, error)
    assert.equal(body.destroyed, true)

    const download = new AbortController()
    const response = await client.request({ ...GET, signal: download.signal })
    const text = response.body.text()
    download.abort(error)
    await rejectsWith(text, error)
    assert.equal(response.body.destroyed, true)
  })

  it('ends dump(), a web stream, stream() and pipeline()', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.on('error', () => {})
      response.write('a')
    })
    const client = origin.client()
    const error = unreadable()

    const dump = new AbortController()
    const dumped = (await client.request(GET)).body.dump({ signal: dump.signal })
    dump.abort(error)
    await rejectsWith(dumped, error)

    const { body } = await client.request(GET)
    const closed = closing(body)
    await body.body.cancel(error)
    await closed

    const stream = new AbortController()
    const target = new PassThrough().resume()
    const streamed = client.stream({ ...GET, signal: stream.signal }, () => target)
    target.on('error', () => {})
    await once(target, 'data')
    stream.abort(error)
    await rejectsWith(streamed, error)
    assert.equal(target.destroyed, true)

    const pipeline = new AbortController()
    const duplex = client.pipeline({ ...GET, signal: pipeline.signal }, ({ body: yielded }) => yielded).end()
    await once(duplex, 'data')
    const ended = closing(duplex)
    pipeline.abort(error)
    await ended
  })

  for (const [name, relay] of Object.entries(RELAYS)) {
    for (const method of ['onRequestStart', 'onResponseStart', 'onResponseData'] as const) {
      it(`thrown by ${method} ends a request through ${name}`, async (t) => {
        const origin = await startOrigin(t, wire, (_request, response) => response.end('body'))
        const error = unreadable()
        const ends: unknown[] = []
        const ended = deferred()
        const handler: DispatchHandler = {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd() {
            ends.push('end')
            ended.resolve()
          },
          onResponseError(_controller, reported) {
            ends.push(reported === error)
            ended.resolve()
          },
          [method]() {
            throw error
          },
        }
        origin
          .client()
          .compose(relay())
          .dispatch({ ...GET, origin: origin.url }, handler)
        await ended.promise
        // `dump` has no data for its caller.
        assert.deepEqual(ends, [name === 'dump' && method === 'onResponseData' ? 'end' : true])
      })
    }
  }
})
