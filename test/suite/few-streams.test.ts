/**
 * Servers that allow few streams at a time and end their connections, in order or by accident: what they have not
 * processed is sent again, and nothing else fails.
 */
import assert from 'node:assert/strict'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Agent, Client, type Dispatcher, H2CClient, interceptors, Pool } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { http2Only, overEachWay, type Way } from '../support/wire.ts'

const { NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM } = http2.constants

interface Origin {
  readonly url: string
  /** How often each path was answered. */
  readonly answered: Map<string, number>
  /** Paths of requests that ended with their connection, each with the number of that. */
  readonly cut: Map<string, number>
  /** The number of the last connection that each path came with. */
  readonly seen: Map<string, number>
  sessions: number
}

interface Habits {
  /** SETTINGS_MAX_CONCURRENT_STREAMS. */
  readonly limit: number
  /** Called with each stream: the session, how many it has had, and how many there have been on all. */
  onStream(session: http2.ServerHttp2Session, nth: number, total: number): void
}

/** Answers each request when the ones that came with it have arrived, as a server with some work to do. */
const WORK_MS = 20

async function startOrigin(t: TestContext, way: Way, { limit, onStream }: Habits): Promise<Origin> {
  const options = { settings: { maxConcurrentStreams: limit } }
  const server = way.secure
    ? http2.createSecureServer({ ...options, ...localhost })
    : http2.createServer(options)
  const sessions = new Set<http2.ServerHttp2Session>()
  let total = 0
  server.on('session', (session) => {
    const number = ++origin.sessions
    sessions.add(session)
    const open = new Set<string>()
    session
      .on('error', () => {})
      .on('close', () => {
        sessions.delete(session)
        for (const path of open) origin.cut.set(path, number)
      })
    let nth = 0
    session.on('stream', (stream, headers) => {
      const path = String(headers[':path'])
      stream.on('error', () => {}).resume()
      open.add(path)
      origin.seen.set(path, number)
      setTimeout(() => {
        if (stream.destroyed || session.destroyed) return
        // What is still in the session when that is destroyed does not arrive.
        stream.on('finish', () => {
          open.delete(path)
          origin.answered.set(path, (origin.answered.get(path) ?? 0) + 1)
        })
        stream.respond({ ':status': 200 })
        stream.end('ok')
      }, WORK_MS)
      onStream(session, ++nth, ++total)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const url = `${way.secure ? 'https' : 'http'}://localhost:${port}`
  const origin: Origin = { url, answered: new Map(), cut: new Map(), seen: new Map(), sessions: 0 }
  return origin
}

function dispatcherFor(t: TestContext, way: Way, url: string): Dispatcher {
  const options = { useH2c: !way.secure, connect: { ca: authority } }
  const made =
    way.kind === 'Agent'
      ? new Agent(options)
      : way.kind === 'Pool'
        ? new Pool(url, { connections: 3, ...options })
        : way.secure
          ? new Client(url, options)
          : new H2CClient(url)
  t.after(() => made.destroy())
  return made
}

/**
 * Not to be called while the session hands out a stream: Node.js 20 then goes on with the memory of one that it has
 * freed.
 */
function lose(session: http2.ServerHttp2Session): void {
  session.destroy(undefined, NGHTTP2_NO_ERROR)
}

type Failed = Error & { code?: string; retrySafety?: string }

interface Outcome {
  readonly path: string
  readonly method: string
  readonly error: Failed | null
}

/** `posts`: every other request is one. */
function sendAll(dispatcher: Dispatcher, url: string, count: number, posts = false): Promise<Outcome[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index): Promise<Outcome> => {
      const path = `/${index}`
      const method = posts && index % 2 === 1 ? 'POST' : 'GET'
      try {
        const body = method === 'POST' ? 'bytes' : null
        const response = await dispatcher.request({ origin: url, path, method, body })
        assert.equal(await response.body.text(), 'ok')
        return { path, method, error: null }
      } catch (error) {
        return { path, method, error: error as Failed }
      }
    }),
  )
}

/**
 * The request was on its way when its connection was lost: the server either had it then, or never got to read it, which
 * no client can tell from the other.
 */
function assertInFlight({ answered, cut, seen }: Origin, path: string): void {
  assert.equal(answered.has(path), false, `${path} was answered`)
  assert.equal(seen.get(path), cut.get(path), `${path} came with another connection`)
}

/** What failed, as lines that a failing test shows. */
function failures(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .filter(({ error }) => error !== null)
    .map(
      ({ path, method, error }) => `${method} ${path} ${error!.code} ${error!.message} ${error!.retrySafety}`,
    )
}

overEachWay(
  'few streams',
  (way) => {
    test('200 requests of a server that says GOAWAY after every 20 and takes 10 at a time: all are answered', async (t) => {
      const origin = await startOrigin(t, way, {
        limit: 10,
        onStream: (session, nth) => {
          if (nth === 20) session.close()
        },
      })
      const outcomes = await sendAll(dispatcherFor(t, way, origin.url), origin.url, 200)
      assert.deepEqual(failures(outcomes), [])
      assert.ok(origin.sessions >= 8, `${origin.sessions} connections`)
    })

    test('the same with an error code in each GOAWAY', async (t) => {
      const origin = await startOrigin(t, way, {
        limit: 10,
        onStream: (session, nth) => {
          if (nth === 20) session.goaway(NGHTTP2_ENHANCE_YOUR_CALM)
        },
      })
      const outcomes = await sendAll(dispatcherFor(t, way, origin.url), origin.url, 200)
      assert.deepEqual(failures(outcomes), [])
    })

    for (const limit of [2, 10]) {
      test(`one lost connection, ${limit} streams at a time: only what was in flight fails, with one code`, async (t) => {
        let isLost = false
        const origin = await startOrigin(t, way, {
          limit,
          onStream: (session, _nth, total) => {
            if (isLost || total < 20) return
            isLost = true
            setImmediate(lose, session)
          },
        })
        const outcomes = await sendAll(dispatcherFor(t, way, origin.url), origin.url, 50)
        const failed = outcomes.filter(({ error }) => error !== null)
        assert.ok(failed.length > 0 && failed.length <= limit, failures(outcomes).join('\n'))
        for (const { path, error } of failed) {
          assertInFlight(origin, path)
          assert.equal(error!.code, 'UND_ERR_SOCKET')
          assert.equal(error!.message, 'other side closed')
          assert.equal(error!.retrySafety, 'idempotent-only')
        }
        for (const [path, times] of origin.answered) assert.equal(times, 1, path)
      })

      test(`the same with retry, ${limit} streams at a time: only POSTs that were in flight fail`, async (t) => {
        let isLost = false
        const origin = await startOrigin(t, way, {
          limit,
          onStream: (session, _nth, total) => {
            if (isLost || total < 20) return
            isLost = true
            setImmediate(lose, session)
          },
        })
        const dispatcher = dispatcherFor(t, way, origin.url).compose(interceptors.retry({ minTimeout: 1 }))
        const outcomes = await sendAll(dispatcher, origin.url, 50, true)
        const failed = outcomes.filter(({ error }) => error !== null)
        assert.ok(failed.length <= limit, `${failed.length} failed`)
        for (const { path, method, error } of failed) {
          assert.equal(method, 'POST')
          assertInFlight(origin, path)
          assert.equal(error!.code, 'UND_ERR_SOCKET')
        }
      })
    }
  },
  http2Only('HTTP/2 only'),
)
