/**
 * The HTTP/2 engine: events and output depend on the bytes alone, each stream ends once, nothing follows a connection
 * failure, and pending output is bounded.
 */
import assert from 'node:assert/strict'
import type { ProtocolFailure } from '../../../src/protocol/failure.ts'
import { MAX_CONTROL_BYTES_QUEUED } from '../../../src/protocol/http2/limits.ts'
import { FramePeer, GET, HEAD, POST, parseFrames } from '../../support/frame-peer.ts'
import type { RecordedStream } from '../../support/h2-recorder.ts'
import type { Recording } from '../corpus.ts'
import { cut } from '../mutator.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'

const FIELDS: Readonly<Record<string, readonly string[]>> = { GET, HEAD, POST }

const BODY = Buffer.alloc(30_000, 'b')

/** The longest recorded head fits, twice its size does not; a handful of copied frames reaches the other limits. */
const LIMITS = { maxHeaderSize: 20_000, abuse: { settings: 30, pings: 30, emptyFrames: 30 } }

const GONE: ProtocolFailure = {
  scope: 'connection',
  blame: 'peer',
  code: 'EOF',
  message: 'other side closed',
}

const HEADERS_ON_1 = Buffer.from('00000101050000000188', 'hex')
const SETTINGS = Buffer.from('000000040000000000', 'hex')

/** The owner's reaction to a callback. */
type Reaction = (line: string, stream: RecordedStream, peer: FramePeer) => void

class Reading {
  readonly peer = new FramePeer(LIMITS)
  readonly streams: RecordedStream[] = []
  readonly heard: string[] = []
  readonly output: string[] = []
  /** The maximum of bytes that waited for the transport at once. */
  mostQueued = 0

  constructor(context: string, react: Reaction) {
    for (const method of context.split(',')) {
      const stream = this.peer.open(FIELDS[method] ?? GET, method !== 'POST')
      if (method === 'POST') this.peer.engine.send(stream, BODY, this.streams.length % 2 === 0)
      this.streams.push(stream)
    }
    this.peer.frames()
    this.peer.sink.react = (line, stream) => react(line, stream, this.peer)
  }

  feed(bytes: Buffer): void {
    this.peer.engine.receive(bytes, 0, bytes.length, 0)
  }

  /** Sends all pending output. */
  collect(): void {
    const { engine } = this.peer
    let queued = 0
    for (let pieces = engine.takeOutput(); pieces !== null; pieces = engine.takeOutput()) {
      const bytes = Buffer.concat(pieces)
      queued += bytes.length
      for (const { type, flags, streamId, payload } of parseFrames(bytes)) {
        this.output.push(`${type} ${flags} ${streamId} ${payload.toString('latin1')}`)
      }
    }
    this.mostQueued = Math.max(queued, this.mostQueued)
    this.heard.push(...this.peer.heard)
  }

  /** The events, with adjacent pieces of content joined, and the frames. */
  report(): string[] {
    this.collect()
    const report: string[] = []
    let last = ''
    for (const line of this.heard) {
      const [kind, id] = line.split(' ', 2) as [string, string]
      if (kind === 'data' && last === id) report[report.length - 1] += line.slice(6 + id.length)
      else report.push(line)
      last = kind === 'data' ? id : ''
    }
    return [...report, ...this.output]
  }

  /** The connection ends here; no events follow this, or a failure. */
  end(): void {
    const { engine } = this.peer
    this.collect()
    const failures = this.heard.filter((line) => line.startsWith('failure'))
    assert.equal(failures.length, engine.isClosed ? 1 : 0, 'a failure closes the engine and is told once')
    if (engine.isClosed) {
      assert.equal(this.heard.at(-1), failures[0], 'something followed the failure')
      this.#assertSilence()
    }
    engine.terminate(GONE)
    this.collect()
    assert.equal(engine.streams.size, 0)
    assert.equal(engine.freeStreams, 0)
    this.#assertSilence()
  }

  #assertSilence(): void {
    const before = this.report()
    this.feed(HEADERS_ON_1)
    this.feed(SETTINGS)
    this.peer.engine.terminate(GONE)
    // Streams that were open when the engine failed have been reported by then: nothing is left to report.
    assert.deepEqual(this.report(), before, 'something followed the end')
  }

  /** `given`: streams that the owner has reset itself. */
  assertSettled(given: ReadonlySet<number>): void {
    for (const { id } of this.streams) {
      const about = this.heard.filter((line) => line.split(' ', 2)[1] === String(id) && isOfStream(line))
      const ends = about.filter((line) => line.startsWith('end ') || line.startsWith('reset '))
      const text = about.join('\n')
      assert.ok(given.has(id) ? ends.length <= 1 : ends.length === 1, text)
      assert.equal(about.filter((line) => line.startsWith('closed ')).length, 1, text)
      assert.ok(about.at(-1)!.startsWith('closed '), text)
      assert.ok(about.filter((line) => line.startsWith('head ')).length <= 1, text)
    }
  }
}

function isOfStream(line: string): boolean {
  return /^(?:interim|head|data|end|reset|writable|closed) /.test(line)
}

/** An owner that changes its mind: consumes bytes, resets, sends more, closes. */
function lively(random: Random, given: Set<number>): Reaction {
  return (line, stream, { engine }) => {
    if (line.startsWith('data ') && random.oneIn(2))
      engine.release(stream, line.length - 6 - String(stream.id).length)
    if (random.oneIn(12)) {
      given.add(stream.id)
      engine.reset(stream, 8)
    }
    if (random.oneIn(12) && !stream.hasAllToSend) engine.send(stream, BODY, random.oneIn(2))
    if (random.oneIn(40)) engine.shutdown()
  }
}

function check({ context, bytes }: Recording, random: Random): void {
  const whole = new Reading(context, () => {})
  whole.feed(bytes)
  const expected = whole.report()
  const uploads = context.split('POST').length - 1
  assert.ok(whole.mostQueued <= MAX_CONTROL_BYTES_QUEUED + uploads * (BODY.length + 90), 'output is bounded')
  assert.ok(
    whole.heard.length <= bytes.length + 4 * whole.streams.length + 4,
    'more events than bytes explain',
  )

  const pieces = new Reading(context, () => {})
  for (const piece of cut(bytes, random)) pieces.feed(piece)
  assert.deepEqual(pieces.report(), expected, 'the same bytes in other pieces')

  whole.end()
  whole.assertSettled(new Set())

  const given = new Set<number>()
  const other = new Reading(context, lively(random, given))
  for (const piece of cut(bytes, random)) {
    other.feed(piece)
    if (random.oneIn(3)) other.collect()
  }
  other.collect()
  other.peer.engine.terminate(GONE)
  other.collect()
  other.assertSettled(given)
}

export const http2Engine: Target = { name: 'http2-engine', corpus: 'http2', check }
