/** The ways in which a response body fails, and the ways to observe it. */
import { once } from 'node:events'
import type http2 from 'node:http2'
import type { Socket } from 'node:net'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { BodyReadable, Client } from '../../src/index.ts'
import { ALL, exceptionFor } from '../runtimes/exceptions.ts'
import type { Wire } from '../support/wire.ts'

/** The server's end of one exchange. */
export interface ServerEnd {
  readonly socket: Socket
  /** HTTP/2 only. */
  readonly stream: http2.ServerHttp2Stream | null
  /** Sends bytes within the body that its protocol does not allow there. */
  writeNonsense(): void
}

/** The objects that a cell of the table works with. */
export interface Cell {
  readonly client: Client
  readonly abort: AbortController
  readonly server: ServerEnd
  /** The caller's stream; a WebSocket and a Response of `fetch` have none. */
  readonly stream: Readable | Duplex | null
}

export interface Failure {
  readonly name: string
  readonly fail: (cell: Cell) => void
  /** The code of the error that the response body then has. */
  readonly code: RegExp
  readonly wires?: 'http1' | 'http2'
  /** The whole body has arrived and is unread. */
  readonly whole?: boolean
}

export const OWN = Object.assign(new Error('of the caller'), { code: 'OWN' })

const LOST = /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/
const INTERNAL_ERROR = 2

export const FAILURES: readonly Failure[] = [
  { name: 'server resets the connection', code: LOST, fail: ({ server }) => server.socket.resetAndDestroy() },
  { name: 'server closes the connection', code: LOST, fail: ({ server }) => server.socket.destroy() },
  { name: 'bodyTimeout', code: /^UND_ERR_BODY_TIMEOUT$/, fail() {} },
  { name: 'client.destroy()', code: /^UND_ERR_DESTROYED$/, fail: ({ client }) => void client.destroy() },
  { name: 'client.destroy(error)', code: /^OWN$/, fail: ({ client }) => void client.destroy(OWN) },
  { name: 'signal', code: /^OWN$/, fail: ({ abort }) => abort.abort(OWN) },
  { name: 'signal, all has arrived', code: /^OWN$/, whole: true, fail: ({ abort }) => abort.abort(OWN) },
  { name: 'body.destroy()', code: /^UND_ERR_ABORTED$/, fail: ({ stream }) => void stream?.destroy() },
  { name: 'body.destroy(error)', code: /^OWN$/, fail: ({ stream }) => void stream?.destroy(OWN) },
  {
    name: 'malformed body',
    code: /^(HPE_|UND_ERR_|ERR_HTTP2_)/,
    fail: ({ server }) => server.writeNonsense(),
  },
  {
    name: 'HTTP/2 stream reset',
    wires: 'http2',
    code: /^(UND_ERR_|ERR_HTTP2_)/,
    fail: ({ server }) => server.stream?.close(INTERNAL_ERROR),
  },
  {
    name: 'HTTP/2 session ended with an error',
    wires: 'http2',
    // The server resets its streams before it ends.
    code: /^(UND_ERR_(SOCKET|INFO)|ECONNRESET|EPIPE)$/,
    fail: ({ server }) => server.stream?.session?.destroy(undefined, INTERNAL_ERROR),
  },
]

export function failuresOver(wire: Wire): readonly Failure[] {
  return FAILURES.filter(({ name, wires }) => {
    if (!ALL && exceptionFor('failing-bodies.test.ts', `${name} over ${wire.name}`) !== null) return false
    return wires === undefined || (wires === 'http2') === wire.multiplexes
  })
}

/** A report: the error, or undefined if there was none. */
export type Report = Promise<unknown>

/** An observer, attached before the failure or after it. One that returns no report cannot see the error. */
export interface Watcher {
  readonly name: string
  readonly before?: (stream: Readable) => Report | void
  readonly after?: (stream: Readable) => Report
  /** For response bodies only. */
  readonly needsBody?: boolean
  /** Consumes the data: a body that has arrived completely is then read before it can fail. */
  readonly reads?: boolean
}

export function outcome(promise: Promise<unknown>): Report {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

function sink(): PassThrough {
  return new PassThrough().resume()
}

async function iterate(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source) {
    // Only the end matters.
  }
}

async function readAll(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done) {
    // Only the end matters.
  }
}

const text = (stream: Readable): Report => outcome((stream as BodyReadable).text())
const web = (stream: Readable): Report => outcome(readAll((stream as BodyReadable).body.getReader()))
const iteration = (stream: Readable): Report => outcome(iterate(stream))
const piped = (stream: Readable): Report => outcome(pipeline(stream, sink()))
const end = (stream: Readable): Report => outcome(finished(stream))

export const WATCHERS: readonly Watcher[] = [
  { name: 'nobody' },
  { name: 'data', reads: true, before: (stream) => void stream.on('data', () => {}) },
  { name: 'close', before: (stream) => void stream.on('close', () => {}) },
  { name: 'pipe', reads: true, before: (stream) => void stream.pipe(sink()) },
  { name: 'error', before: (stream) => new Promise((resolve) => stream.on('error', resolve)) },
  { name: "events.once('end')", before: (stream) => outcome(once(stream, 'end')) },
  { name: 'text()', needsBody: true, reads: true, before: text },
  { name: 'text(), later', needsBody: true, after: text },
  { name: 'iteration', reads: true, before: iteration },
  { name: 'iteration, later', after: iteration },
  { name: 'stream.pipeline', reads: true, before: piped },
  { name: 'stream.pipeline, later', after: piped },
  { name: 'finished', before: end },
  { name: 'finished, later', after: end },
  { name: 'web stream', needsBody: true, reads: true, before: web },
  { name: 'web stream, later', needsBody: true, after: web },
]
