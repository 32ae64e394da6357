/**
 * The scenarios for a client under load, with the expected counts. Nothing in here depends on durations; times are only
 * reported.
 */
import assert from 'node:assert/strict'
import net from 'node:net'
import { Client, type Dispatcher, errors, H2CClient, Pool } from '../../src/index.ts'
import { WindowGrowth } from '../../src/protocol/http2/window-growth.ts'
import { FLOOD_BYTES, type Origin } from './origin.ts'
import { until } from './watch.ts'

/** Name → text, in display order. */
export type Figures = Record<string, string>

/** A loaded machine may need long to connect; these scenarios do not test that. */
const PATIENT = { connectTimeout: 0, headersTimeout: 0, bodyTimeout: 0 } as const

/** Bytes that a paused HTTP/1.1 body may hold: its own 64 KiB, the stream's 64 KiB and a read, with a margin. */
const PAUSED_BODY_BYTES = 512 * 1024

const WINDOW = 262_144

function since(start: number): string {
  return `${Math.round(performance.now() - start)} ms`
}

async function get(dispatcher: Dispatcher, path: string): Promise<string> {
  const { body, statusCode } = await dispatcher.request({ path, method: 'GET' })
  assert.equal(statusCode, 200)
  return body.text()
}

async function allReleased(answers: readonly Promise<string>[]): Promise<void> {
  for (const answer of await Promise.all(answers)) assert.equal(answer, 'released')
}

/** HTTP/1.1 connections that are all in use at once: half in one pool, half with one client each. */
export async function manyConnections(origin: Origin, count: number): Promise<Figures> {
  const before = (await origin.state()).sockets
  const pooled = Math.ceil(count / 2)
  const pool = new Pool(origin.h1, { ...PATIENT, connections: pooled })
  const clients = Array.from({ length: count - pooled }, () => new Client(origin.h1, PATIENT))
  const start = performance.now()
  const answers = Array.from({ length: pooled }, () => get(pool, '/hold'))
  for (const client of clients) answers.push(get(client, '/hold'))
  await until(async () => (await origin.state()).held === count)
  const opened = since(start)
  assert.equal((await origin.state()).sockets, before + count)
  assert.equal(pool.stats.running, pooled)

  const released = performance.now()
  await origin.release()
  await allReleased(answers)
  const answered = since(released)

  // Kept alive: the second round needs no connection.
  const again = performance.now()
  const second = [...Array.from({ length: pooled }, () => pool), ...clients].map((each) => get(each, '/ok'))
  for (const answer of await Promise.all(second)) assert.equal(answer, 'ok')
  const reused = since(again)
  assert.ok((await origin.state()).sockets <= before + count)

  await Promise.all([pool.close(), ...clients.map((client) => client.close())])
  assert.equal(pool.stats.size, 0)
  await until(async () => (await origin.state()).sockets === before)
  return { connections: String(count), 'open and ask': opened, answer: answered, 'second round': reused }
}

/** HTTP/2 streams that are all open at once on a few connections. */
export async function manyStreams(origin: Origin, connections: number, streams: number): Promise<Figures> {
  const before = (await origin.state()).sockets
  const clients = Array.from(
    { length: connections },
    () => new H2CClient(origin.h2, { ...PATIENT, maxConcurrentStreams: streams }),
  )
  const start = performance.now()
  const answers = clients.flatMap((client) => Array.from({ length: streams }, () => get(client, '/hold')))
  await until(async () => (await origin.state()).held === connections * streams)
  const opened = since(start)
  assert.equal((await origin.state()).sockets, before + connections)
  for (const client of clients) assert.equal(client.stats.running, streams)

  const released = performance.now()
  await origin.release()
  await allReleased(answers)
  const answered = since(released)
  await until(() => clients.every((client) => client.stats.size === 0))

  await Promise.all(clients.map((client) => client.close()))
  await until(async () => (await origin.state()).sockets === before)
  return { streams: String(connections * streams), 'open and ask': opened, answer: answered }
}

/** Connections whose bytes can be counted. */
class Counted {
  readonly #sockets: net.Socket[] = []

  /** For the `connect` option. */
  connector(
    url: string,
  ): (options: unknown, callback: (error: Error | null, socket?: net.Socket) => void) => void {
    const { port, hostname } = new URL(url)
    return (_, callback) => {
      const socket = net.connect(Number(port), hostname)
      this.#sockets.push(socket)
      socket.once('connect', () => callback(null, socket)).once('error', callback)
    }
  }

  get bytes(): number {
    return this.#sockets.reduce((sum, socket) => sum + socket.bytesRead, 0)
  }
}

/** Without buffering it. */
async function sizeOf(body: AsyncIterable<Buffer>): Promise<number> {
  let size = 0
  for await (const chunk of body) size += chunk.length
  return size
}

/** Bodies that stay unread for a while: input stays within buffers and windows, then everything arrives. */
export async function slowConsumers(origin: Origin, count: number): Promise<Figures> {
  const { onStreamData } = WindowGrowth.prototype
  // Windows grow with the bytes per round trip, which depends on time; this scenario tests fixed windows.
  WindowGrowth.prototype.onStreamData = () => 0
  try {
    return await unreadBodies(origin, count)
  } finally {
    WindowGrowth.prototype.onStreamData = onStreamData
  }
}

async function unreadBodies(origin: Origin, count: number): Promise<Figures> {
  const before = (await origin.state()).sockets
  const over1 = new Counted()
  const over2 = new Counted()
  const pool = new Pool(origin.h1, { ...PATIENT, connections: count, connect: over1.connector(origin.h1) })
  const client = new H2CClient(origin.h2, {
    ...PATIENT,
    maxConcurrentStreams: count,
    initialWindowSize: WINDOW,
    connectionWindowSize: count * WINDOW,
    connect: over2.connector(origin.h2),
  })
  const responses = await Promise.all(
    [pool, client].flatMap((each) =>
      Array.from({ length: count }, () => each.request({ path: '/flood', method: 'GET' })),
    ),
  )
  // Nothing moves any more once many consecutive samples are equal.
  let looks = 0
  let last = -1
  await until(async () => {
    await origin.state()
    const now = over1.bytes + over2.bytes
    looks = now === last ? looks + 1 : 0
    last = now
    return looks === 100
  })
  const [paused1, paused2] = [over1.bytes, over2.bytes]
  assert.ok(paused1 <= count * PAUSED_BODY_BYTES, `${paused1} bytes for ${count} bodies nobody reads`)
  assert.ok(paused2 <= count * WINDOW * 1.1 + 65_536, `${paused2} bytes for ${count} windows`)

  const start = performance.now()
  const sizes = await Promise.all(responses.map(({ body }) => sizeOf(body)))
  for (const size of sizes) assert.equal(size, FLOOD_BYTES)
  const read = since(start)
  await Promise.all([pool.close(), client.close()])
  await until(async () => (await origin.state()).sockets === before)
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
  return {
    bodies: `${2 * count} of ${mebibytes(FLOOD_BYTES)}`,
    'taken in over h1': mebibytes(paused1),
    'taken in over h2': mebibytes(paused2),
    'rest read': read,
  }
}

/** A server that accepts requests and never answers: every timeout fires, and nothing is left. */
export async function silentServer(origin: Origin, count: number, timeout: number): Promise<Figures> {
  const before = (await origin.state()).sockets
  const limits = { ...PATIENT, headersTimeout: timeout }
  const pool = new Pool(origin.h1, { ...limits, connections: count })
  const client = new H2CClient(origin.h2, { ...limits, maxConcurrentStreams: count })
  const start = performance.now()
  const results = await Promise.allSettled(
    [pool, client].flatMap((each) => Array.from({ length: count }, () => get(each, '/silent'))),
  )
  const took = since(start)
  for (const result of results) {
    assert.equal(result.status, 'rejected')
    assert.ok(result.reason instanceof errors.HeadersTimeoutError, String(result.reason))
  }
  await until(() => pool.stats.size === 0 && client.stats.size === 0)
  await Promise.all([pool.close(), client.close()])
  await until(async () => (await origin.state()).sockets === before)
  return { requests: String(results.length), limit: `${timeout} ms`, 'all failed after': took }
}

/** An origin that can be stopped and restarted. */
export interface Outage {
  readonly origin: Origin
  readonly socketPaths: readonly [h1: string, h2: string] | null
  down(): Promise<void>
  up(): Promise<void>
}

/** Requests in flight fail, requests during the outage fail with the reason, and later requests succeed. */
export async function outage(place: Outage, count: number): Promise<Figures> {
  const { origin, socketPaths } = place
  const [path1, path2] = socketPaths ?? [null, null]
  const pool = new Pool(origin.h1, { ...PATIENT, connections: count, socketPath: path1 })
  const client = new H2CClient(origin.h2, { ...PATIENT, socketPath: path2 })
  client.on('error', () => {})
  const each = (path: string): Promise<string>[] =>
    [pool, client].flatMap((dispatcher) => Array.from({ length: count }, () => get(dispatcher, path)))
  await Promise.all(each('/ok'))

  const inFlight = Promise.allSettled(each('/hold'))
  await until(async () => (await origin.state()).held === 2 * count)
  const cut = performance.now()
  await place.down()
  assertClear(await inFlight)
  const noticed = since(cut)

  const meanwhile = await Promise.allSettled(each('/ok'))
  assertClear(meanwhile)

  await place.up()
  const back = performance.now()
  let attempts = 0
  for (const dispatcher of [pool, client]) {
    await until(async () => {
      attempts++
      return get(dispatcher, '/ok').then(
        () => true,
        () => false,
      )
    })
  }
  const recovered = since(back)
  assert.ok((await Promise.all(each('/ok'))).every((answer) => answer === 'ok'))
  await Promise.all([pool.close(), client.close()])
  return {
    'in flight': String(2 * count),
    'failed after': noticed,
    'asked meanwhile': String(meanwhile.length),
    'first success after return': `${recovered}, ${attempts} attempts`,
  }
}

/** Failed, with a code that a program can check. */
function assertClear(results: readonly PromiseSettledResult<string>[]): void {
  for (const result of results) {
    assert.equal(result.status, 'rejected')
    const { code, message } = result.reason as { code?: unknown; message: string }
    assert.match(
      String(code),
      /^(?:ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|UND_ERR_\w+|ERR_HTTP2_\w+)$/,
      message,
    )
  }
}
