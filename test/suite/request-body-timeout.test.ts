/** Bodies of requests that bring nothing: `requestBodyTimeout`, and what an abort does to their sources. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { type Dispatcher, errors, fetch, interceptors } from '../../src/index.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

interface Source {
  readonly body: Readable | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  /** Resolves when the source knows that no more of it is wanted. */
  readonly stopped: Promise<unknown>
  /** Brings a piece. */
  push(piece: string): void
}

/** Each brings a first piece and then waits for more. */
const SOURCES: Readonly<Record<string, () => Source>> = {
  stream() {
    const body = new Readable({ read() {} })
    body.push('first')
    body.on('error', () => {})
    const stopped = new Promise((resolve) => body.on('close', resolve))
    return { body, stopped, push: (piece) => body.push(piece) }
  },
  'web stream'() {
    let stop!: (reason: unknown) => void
    const stopped = new Promise((resolve) => {
      stop = resolve
    })
    let push!: (piece: string) => void
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (piece) => controller.enqueue(Buffer.from(piece))
        push('first')
      },
      cancel: (reason) => stop(reason ?? 'cancelled'),
    })
    return { body, stopped, push }
  },
  iterator() {
    let stop!: (reason: unknown) => void
    const stopped = new Promise((resolve) => {
      stop = resolve
    })
    const pieces: Uint8Array[] = [Buffer.from('first')]
    let wake: (() => void) | null = null
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          while (pieces.length === 0) {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
          return { done: false, value: pieces.shift()! }
        },
        async return() {
          stop('returned')
          return { done: true, value: undefined }
        },
      }),
    }
    const push = (piece: string): void => {
      pieces.push(Buffer.from(piece))
      wake?.()
    }
    return { body, stopped, push }
  },
}

type Options = { signal?: AbortSignal; requestBodyTimeout?: number }
type Send = (dispatcher: Dispatcher, origin: string, source: Source, options: Options) => Promise<unknown>

const SENDS: Readonly<Record<string, Send>> = {
  request: (dispatcher, origin, { body }, options) =>
    dispatcher.request({ origin, path: '/', method: 'POST', body: body as Readable, ...options }),
  fetch: (dispatcher, url, { body }, options) =>
    fetch(url, { dispatcher, method: 'POST', duplex: 'half', body: body as Readable, ...options }),
}

async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const error = await promise.then(
    () => assert.fail('no failure'),
    (error: Error) => error,
  )
  return (error.cause instanceof Error ? error.cause : error) as Error
}

overEachWire('a request body that stalls', (wire) => {
  for (const [name, send] of Object.entries(SENDS)) {
    for (const [kind, make] of Object.entries(SOURCES)) {
      test(`${name} of a ${kind}: requestBodyTimeout fails the request and stops the source`, {
        timeout: 5000,
      }, async (t) => {
        const origin = await startOrigin(t, wire, (request) => request.resume().on('error', () => {}))
        const source = make()
        const error = await failureOf(send(origin.client(), origin.url, source, { requestBodyTimeout: 30 }))
        assert.ok(error instanceof errors.RequestBodyTimeoutError, String(error))
        assert.equal(error.code, 'UND_ERR_REQ_BODY_TIMEOUT')
        await source.stopped
      })

      test(`${name} of a ${kind}: an abort stops the source, also below dump`, {
        timeout: 5000,
      }, async (t) => {
        const origin = await startOrigin(t, wire, (request) => request.resume().on('error', () => {}))
        const client = origin.client()
        for (const dispatcher of [client, client.compose(interceptors.dump())]) {
          const source = make()
          const abort = new AbortController()
          const arrived = once(origin.server, 'request')
          const failed = failureOf(send(dispatcher, origin.url, source, { signal: abort.signal }))
          await arrived
          abort.abort()
          assert.equal((await failed).name, 'AbortError')
          await source.stopped
        }
      })
    }
  }

  for (const kind of ['stream', 'bytes'] as const) {
    test(`trailers that never come after a body of ${kind} are limited likewise`, {
      timeout: 5000,
    }, async (t) => {
      const origin = await startOrigin(t, wire, (request) => request.resume().on('error', () => {}))
      const options = { path: '/', method: 'POST', requestBodyTimeout: 30 } as const
      const trailers = (): Promise<never> => new Promise(() => {})
      const body = kind === 'stream' ? Readable.from(['all']) : 'all'
      const error = await failureOf(origin.client().request({ ...options, body, trailers }))
      assert.ok(error instanceof errors.RequestBodyTimeoutError, String(error))
    })
  }

  test('the option of the client counts, and only while the source has nothing to send', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      request.resume().on('end', () => response.end('ok'))
      request.on('error', () => {})
    })
    const client = origin.client({ requestBodyTimeout: 30 })
    const stalled = SOURCES['stream']!()
    const error = await failureOf(SENDS['request']!(client, origin.url, stalled, {}))
    assert.equal(error.code, 'UND_ERR_REQ_BODY_TIMEOUT')
    const endless = SOURCES['stream']!()
    const abort = new AbortController()
    const failed = failureOf(
      SENDS['request']!(client, origin.url, endless, { requestBodyTimeout: 0, signal: abort.signal }),
    )
    const later = SOURCES['stream']!()
    await failureOf(SENDS['request']!(origin.client(), origin.url, later, { requestBodyTimeout: 60 }))
    abort.abort()
    assert.equal((await failed).name, 'AbortError')
  })

  test('other values are refused at the call', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.end())
    await assert.rejects(origin.client().request({ path: '/', method: 'GET', requestBodyTimeout: -1 }), {
      code: 'UND_ERR_INVALID_ARG',
      message: 'invalid requestBodyTimeout',
    })
    assert.throws(() => origin.client({ requestBodyTimeout: 0.5 }), {
      message: 'requestBodyTimeout must be a positive integer or zero',
    })
  })
})
