/** Deduplicated requests over real connections, through every way to make them. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  type Agent,
  type DeduplicateOptions,
  errors,
  fetch,
  type Interceptor,
  interceptors,
} from '../../src/index.ts'
import { type Deferred, deferred, failure } from '../support/exchange.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

interface Setting {
  readonly agent: Agent
  readonly opts: { readonly origin: string; readonly path: string; readonly method: string }
  /** Requests that the server has seen. */
  readonly seen: string[]
  /** The server has a request. */
  readonly arrived: Deferred<void>
  /** All callers have dispatched their requests. */
  readonly dispatched: Deferred<void>
  /** The server has seen the end of an exchange that it did not end. */
  readonly aborted: Deferred<void>
}

/** The server responds when `callers` requests have been dispatched. */
async function setting(
  t: TestContext,
  wire: Wire,
  callers: number,
  respond: (response: Parameters<Listener>[1]) => void,
  options?: DeduplicateOptions,
): Promise<Setting> {
  const seen: string[] = []
  const arrived = deferred()
  const dispatched = deferred()
  const aborted = deferred()
  const origin = await startOrigin(t, wire, (request, response) => {
    seen.push(request.url!)
    arrived.resolve()
    request.on('close', () => aborted.resolve())
    void dispatched.promise.then(() => respond(response))
  })
  let count = 0
  const counting: Interceptor = (dispatch) => (opts, handler) => {
    const accepted = dispatch(opts, handler)
    if (++count === callers) dispatched.resolve()
    return accepted
  }
  const agent = composedAgent(t, wire, interceptors.deduplicate(options), counting)
  return { agent, opts: { origin: origin.url, path: '/', method: 'GET' }, seen, arrived, dispatched, aborted }
}

const MEGABYTE = 1024 * 1024

overTwoWires('interceptors.deduplicate', (wire) => {
  test('request(): one exchange, with raw headers and trailers for all', async (t) => {
    const { agent, opts, seen } = await setting(t, wire, 3, (response) => {
      response.writeHead(201, { 'X-One': '1', trailer: 'check' })
      response.addTrailers({ check: 'sum' })
      response.end('body')
    })
    const responses = await Promise.all([
      agent.request(opts),
      agent.request({ ...opts, responseHeaders: 'raw' } as never),
      agent.request(opts),
    ])
    for (const { statusCode, body, trailers } of responses) {
      assert.deepEqual([statusCode, await body.text(), trailers['check']], [201, 'body', 'sum'])
    }
    const raw = (responses[1]!.headers as unknown as (string | Buffer)[]).map((part) => String(part))
    assert.equal(raw[raw.findIndex((part) => part.toLowerCase() === 'x-one') + 1], '1')
    assert.deepEqual(seen, ['/'])
  })

  test('stream()', async (t) => {
    const { agent, opts, seen } = await setting(t, wire, 2, (response) => {
      response.write('x'.repeat(100_000))
      response.end('y')
    })
    const read = async (): Promise<string> => {
      const chunks: Buffer[] = []
      await agent.stream(opts, () => {
        return new Writable({
          highWaterMark: 1,
          write(chunk: Buffer, _encoding, done) {
            chunks.push(chunk)
            setImmediate(done)
          },
        })
      })
      return Buffer.concat(chunks).toString()
    }
    for (const text of await Promise.all([read(), read()])) assert.equal(text, `${'x'.repeat(100_000)}y`)
    assert.equal(seen.length, 1)
  })

  for (const [name, send] of [
    ['fetch', fetch],
    ["the runtime's fetch", globalThis.fetch],
  ] as [string, typeof fetch][]) {
    test(`${name}`, async (t) => {
      const { agent, opts, seen } = await setting(t, wire, 2, (response) => response.end('body'))
      const get = async (): Promise<string> =>
        (await send(opts.origin, { dispatcher: agent } as object)).text()
      assert.deepEqual(await Promise.all([get(), get()]), ['body', 'body'])
      assert.equal(seen.length, 1)
    })

    test(`${name}: the abort of the first leaves the other alone; that of both ends the exchange`, async (t) => {
      const { agent, opts, arrived, aborted, dispatched } = await setting(t, wire, 3, () => {})
      const aborts = [new AbortController(), new AbortController(), new AbortController()]
      const results = aborts.map(({ signal }) =>
        failure(send(opts.origin, { dispatcher: agent, signal } as object)),
      )
      await Promise.all([arrived.promise, dispatched.promise])
      for (const [index, abort] of aborts.entries()) {
        abort.abort()
        assert.equal((await results[index])?.name, 'AbortError')
      }
      await aborted.promise
    })
  }

  for (const gone of [0, 1]) {
    test(`request(): the abort of caller ${gone + 1} before and within the body`, async (t) => {
      const parts = deferred()
      const { agent, opts, seen } = await setting(t, wire, 3, (response) => {
        response.write('one ')
        void parts.promise.then(() => response.end('two'))
      })
      const abort = new AbortController()
      const early = new AbortController()
      const first = agent.request({ ...opts, signal: gone === 0 ? abort.signal : null })
      const second = agent.request({ ...opts, signal: gone === 1 ? abort.signal : null })
      const third = failure(agent.request({ ...opts, signal: early.signal }))
      early.abort()
      assert.equal((await third).name, 'AbortError')
      const responses = await Promise.all([first, second])
      const text = responses[1 - gone]!.body.text()
      const failed = failure(responses[gone]!.body.text())
      abort.abort()
      assert.equal((await failed).name, 'AbortError')
      parts.resolve()
      assert.equal(await text, 'one two')
      assert.equal(seen.length, 1)
    })

    test(`request(): caller ${gone + 1} reads later`, async (t) => {
      const { agent, opts } = await setting(t, wire, 2, (response) =>
        response.end(Buffer.alloc(MEGABYTE, 'x')),
      )
      const responses = await Promise.all([agent.request(opts), agent.request(opts)])
      assert.equal((await responses[1 - gone]!.body.text()).length, MEGABYTE)
      assert.equal((await responses[gone]!.body.text()).length, MEGABYTE)
    })

    test(`request(): caller ${gone + 1} never reads, and fails alone`, async (t) => {
      const { agent, opts } = await setting(
        t,
        wire,
        2,
        (response) => response.end(Buffer.alloc(2 * MEGABYTE, 'x')),
        { maxBufferSize: MEGABYTE },
      )
      const responses = await Promise.all([agent.request(opts), agent.request(opts)])
      const stuck = responses[gone]!.body
      const failed = new Promise<Error>((resolve) => stuck.on('error', resolve))
      assert.equal((await responses[1 - gone]!.body.text()).length, 2 * MEGABYTE)
      const error = await failed
      assert.ok(error instanceof errors.RequestAbortedError)
      assert.equal(
        error.message,
        `Deduplicated waiting handler exceeded maxBufferSize (${MEGABYTE} bytes) while paused`,
      )
    })
  }

  test('all abort: the exchange ends', async (t) => {
    const { agent, opts, aborted } = await setting(t, wire, 2, (response) => response.write('x'))
    const abort = new AbortController()
    const send = () => agent.request({ ...opts, signal: abort.signal })
    const responses = await Promise.all([send(), send()])
    const failures = responses.map(({ body }) => failure(body.text()))
    abort.abort()
    for (const error of await Promise.all(failures)) assert.equal(error.name, 'AbortError')
    await aborted.promise
  })

  test('a connection that is lost fails all', async (t) => {
    const { agent, opts } = await setting(t, wire, 2, (response) => {
      response.write('x')
      setImmediate(() => response.destroy())
    })
    const send = async (): Promise<string> => (await agent.request(opts)).body.text()
    const errors = await Promise.all([failure(send()), failure(send())])
    assert.equal(errors[0], errors[1])
  })
})
