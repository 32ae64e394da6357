/**
 * Servers that end each connection after a few requests, as during a rolling restart, or that accept fewer streams than
 * they announce: unprocessed requests are sent again as long as the server makes progress.
 */
import assert from 'node:assert/strict'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Client, type Dispatcher, errors, H2CClient, Pool } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { http2Only, overEachWire, type Wire } from '../support/wire.ts'

/** The record of a server. */
interface Origin {
  readonly url: string
  /** How often each path was processed. */
  readonly processed: Map<string, number>
  sessions: number
  /** Maximum number of streams that were open on one connection at a time. */
  mostOpen: number
}

interface Policy {
  /** The fate of the nth stream of a connection while this many others are open. */
  take(nth: number, open: number): 'answer' | 'goaway' | 'refuse'
}

async function startOrigin(t: TestContext, wire: Wire, policy: Policy): Promise<Origin> {
  const server = wire.secure ? http2.createSecureServer(localhost) : http2.createServer()
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => {
    origin.sessions++
    sessions.add(session)
    session.on('error', () => {}).on('close', () => sessions.delete(session))
    let streams = 0
    let answering = 0
    let open = 0
    let lastTaken = 0
    let retired = false
    session.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      origin.mostOpen = Math.max(origin.mostOpen, ++open)
      stream.on('close', () => open--)
      // After its own GOAWAY a server processes nothing.
      if (retired) return
      const what = policy.take(++streams, answering)
      if (what === 'refuse') {
        stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
        return
      }
      if (what === 'goaway') {
        retired = true
        session.goaway(0, lastTaken)
        return
      }
      lastTaken = stream.id!
      answering++
      const path = String(headers[':path'])
      origin.processed.set(path, (origin.processed.get(path) ?? 0) + 1)
      let body = ''
      stream.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      stream.on('end', () => {
        setImmediate(() => {
          answering--
          if (stream.destroyed) return
          stream.respond({ ':status': 200 })
          stream.end(`${headers[':method']} ${body}`)
        })
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const url = `${wire.secure ? 'https' : 'http'}://localhost:${port}`
  const origin: Origin = { url, processed: new Map(), sessions: 0, mostOpen: 0 }
  return origin
}

function dispatcherFor(t: TestContext, wire: Wire, { url }: Origin, kind: 'Client' | 'Pool'): Client | Pool {
  const secure = { connect: { ca: authority } }
  const made =
    kind === 'Pool'
      ? new Pool(url, { connections: 2, useH2c: !wire.secure, ...secure })
      : wire.secure
        ? new Client(url, secure)
        : new H2CClient(url)
  t.after(() => made.destroy())
  return made
}

/** 200 requests at once, every other one a POST of bytes; each reports its result. */
function send(dispatcher: Dispatcher): Promise<string[]> {
  return Promise.all(
    Array.from({ length: COUNT }, async (_, index) => {
      const isPost = index % 2 === 1
      const body = isPost ? Buffer.from(`body ${index}`) : null
      const answer = await dispatcher.request({ path: `/${index}`, method: isPost ? 'POST' : 'GET', body })
      return answer.body.text()
    }),
  )
}

const COUNT = 200

function assertAllOnce({ processed }: Origin): void {
  assert.equal(processed.size, COUNT)
  assert.deepEqual(
    [...processed].filter(([, times]) => times !== 1),
    [],
  )
}

overEachWire(
  'a server that retires its connections',
  (wire) => {
    for (const [kind, limit] of [
      ['Client', 1],
      ['Client', 2],
      ['Client', 10],
      ['Pool', 10],
    ] as const) {
      test(`after ${limit} of 200 requests of a ${kind}: all are answered, each is processed once`, async (t) => {
        const origin = await startOrigin(t, wire, { take: (nth) => (nth > limit ? 'goaway' : 'answer') })
        const answers = await send(dispatcherFor(t, wire, origin, kind))
        for (const [index, answer] of answers.entries()) {
          assert.equal(answer, index % 2 === 1 ? `POST body ${index}` : 'GET ')
        }
        assertAllOnce(origin)
        assert.ok(origin.mostOpen <= 100, `${origin.mostOpen} streams at once`)
        assert.ok(origin.sessions >= COUNT / limit)
      })
    }

    test('before it has looked at anything, each time: all fail, and soon', async (t) => {
      const { server, client } = await startH2Pair(t, {}, wire.secure ? { alpn: ['h2'] } : {})
      let ended = false
      const serve = async (): Promise<void> => {
        while (!ended) {
          const peer = await server.accept()
          void peer.request().then(() => peer.goaway(0))
        }
      }
      void serve()
      const outcomes = await Promise.allSettled(
        Array.from({ length: COUNT }, () => client.request({ path: '/', method: 'GET' })),
      )
      ended = true
      for (const outcome of outcomes) {
        assert.equal(outcome.status, 'rejected')
        assert.ok(outcome.reason instanceof errors.InformationalError)
        assert.match(outcome.reason.message, /^HTTP\/2: "GOAWAY" frame received with code 0/)
        assert.equal((outcome.reason as { retrySafety?: string }).retrySafety, 'safe')
      }
      assert.ok(server.count <= 12, `${server.count} connections`)
      await client.close()
    })

    test('a server that takes fewer streams than it says gets no more than it takes, and all of them', async (t) => {
      const origin = await startOrigin(t, wire, { take: (_, open) => (open >= 10 ? 'refuse' : 'answer') })
      await send(dispatcherFor(t, wire, origin, 'Client'))
      assertAllOnce(origin)
      assert.equal(origin.sessions, 1)
    })

    test('one that takes fewer streams than it says and ends each connection after 20: all are answered once', async (t) => {
      const origin = await startOrigin(t, wire, {
        take: (nth, open) => (nth > 20 ? 'goaway' : open >= 5 ? 'refuse' : 'answer'),
      })
      await send(dispatcherFor(t, wire, origin, 'Client'))
      assertAllOnce(origin)
    })

    test('one that refuses every stream fails all, and each is sent twice', async (t) => {
      let refused = 0
      const origin = await startOrigin(t, wire, {
        take: () => {
          refused++
          return 'refuse'
        },
      })
      const client = dispatcherFor(t, wire, origin, 'Client')
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => client.request({ path: '/', method: 'GET' })),
      )
      for (const outcome of outcomes) {
        assert.equal(outcome.status, 'rejected')
        assert.equal((outcome.reason as { http2ErrorCode?: number }).http2ErrorCode, 7)
      }
      assert.equal(refused, 40)
    })
  },
  http2Only('HTTP/2 only'),
)
