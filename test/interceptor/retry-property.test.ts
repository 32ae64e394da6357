/**
 * Whatever a server cuts off: a request that must not be repeated arrives at most once, and the caller gets the original
 * bytes or an error.
 */
import assert from 'node:assert/strict'
import http2 from 'node:http2'
import net, { type AddressInfo, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { Client, type Dispatcher, H2CClient, interceptors } from '../../src/index.ts'

const BODY = Buffer.from(Array.from({ length: 300 }, (_, i) => 65 + (i % 26)))

/** What happens to each request in turn: so many bytes of its answer, then a cut; null for all of it. */
interface Plan {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly cuts: readonly (number | null)[]
  readonly status: 200 | 503
}

const plans: fc.Arbitrary<Plan> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT'),
  cuts: fc.array(fc.option(fc.integer({ min: 0, max: 480 }), { freq: 3 }), { minLength: 1, maxLength: 5 }),
  status: fc.constantFrom(200, 503),
})

interface CuttingServer {
  readonly dispatcher: Dispatcher
  /** The methods of the requests that have arrived. */
  readonly arrived: string[]
  plan: Plan
}

function rangeOf(range: string | undefined): number {
  return range === undefined ? 0 : Number(/\d+/.exec(range)![0])
}

/** Answers with bytes, as far as the plan allows. */
async function startHttp1(t: TestContext): Promise<CuttingServer> {
  const sockets = new Set<Socket>()
  const arrived: string[] = []
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (end === -1 || received.length < end + 4 + length) return
      const head = received.slice(0, end + 2)
      received = ''
      const cut = all.plan.cuts[arrived.length] ?? null
      arrived.push(head.split(' ', 1)[0]!)
      const answer = answerTo(head)
      if (cut === null || cut >= answer.length) socket.write(answer)
      else socket.end(answer.subarray(0, cut))
    })
  })
  const answerTo = (head: string): Buffer => {
    const failed = all.plan.status === 503 && arrived.length % 2 === 1
    const range = /\r\nrange: ([^\r]*)/i.exec(head)?.[1]
    const first = rangeOf(range)
    const partial = range !== undefined && !failed
    const status = failed ? 503 : partial ? 206 : 200
    const body = failed ? Buffer.from('sorry') : BODY.subarray(first)
    const lines = [
      `HTTP/1.1 ${status} X`,
      'etag: "a"',
      `content-length: ${body.length}`,
      ...(failed ? ['retry-after: 0'] : []),
      ...(partial ? [`content-range: bytes ${first}-${BODY.length - 1}/${BODY.length}`] : []),
    ]
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(async () => {
    await client.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const all: CuttingServer = { dispatcher: client, arrived, plan: { method: 'GET', cuts: [], status: 200 } }
  return all
}

/** The same with streams: a cut resets the stream, or destroys the session where it is odd. */
async function startHttp2(t: TestContext): Promise<CuttingServer> {
  const arrived: string[] = []
  const sessions = new Set<http2.ServerHttp2Session>()
  const server = http2.createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.resume()
    stream.on('end', () => {
      const cut = all.plan.cuts[arrived.length] ?? null
      arrived.push(headers[':method']!)
      const failed = all.plan.status === 503 && arrived.length % 2 === 1
      const { range } = headers
      const first = rangeOf(range)
      const body = failed ? Buffer.from('sorry') : BODY.subarray(first)
      const fields: http2.OutgoingHttpHeaders = {
        ':status': failed ? 503 : range === undefined ? 200 : 206,
        etag: '"a"',
        'content-length': body.length,
        ...(failed && { 'retry-after': '0' }),
        ...(!failed &&
          range !== undefined && { 'content-range': `bytes ${first}-${BODY.length - 1}/${BODY.length}` }),
      }
      const give = (): void => {
        if (cut !== null && cut % 2 === 1) stream.session?.destroy()
        else stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
      }
      if (cut !== null && cut < 80) {
        give()
        return
      }
      stream.respond(fields)
      if (cut === null || cut - 80 >= body.length) stream.end(body)
      else stream.write(body.subarray(0, cut - 80), () => setImmediate(give))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new H2CClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(async () => {
    await client.destroy()
    for (const session of sessions) session.destroy()
    server.close()
  })
  const all: CuttingServer = { dispatcher: client, arrived, plan: { method: 'GET', cuts: [], status: 200 } }
  return all
}

describe('property: under any cuts', () => {
  for (const [wire, start] of [
    ['h1', startHttp1],
    ['h2c', startHttp2],
  ] as const) {
    it(`nothing is done twice, and no other bytes are delivered, over ${wire}`, async (t) => {
      const server = await start(t)
      const composed = server.dispatcher.compose(
        interceptors.retry({
          minTimeout: 0,
          maxTimeout: 0,
          maxRetries: 3,
          errorCodes: ['UND_ERR_SOCKET', 'ECONNRESET', 'ERR_HTTP2_STREAM_ERROR'],
        }),
      )
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          server.plan = plan
          server.arrived.length = 0
          const body = plan.method === 'GET' ? null : 'a request body'
          let received: Buffer | null = null
          let statusCode = 0
          try {
            const answer = await composed.request({ path: '/', method: plan.method, body })
            statusCode = answer.statusCode
            received = Buffer.from(await answer.body.arrayBuffer())
          } catch (error) {
            assert.ok(error instanceof Error)
          }
          if (plan.method === 'POST') assert.equal(server.arrived.length, 1)
          else assert.ok(server.arrived.length <= 4)
          if (received !== null) {
            const expected = statusCode === 503 ? 'sorry' : BODY.toString()
            assert.equal(received.toString(), expected)
          }
          // Without a cut there is no reason to fail.
          if (plan.cuts.every((cut) => cut === null)) assert.notEqual(received, null)
        }),
        { numRuns: 150 },
      )
    })
  }
})
