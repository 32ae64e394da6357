/**
 * A scripted HTTP/2 server in memory: it sends any frames a test wants, valid or not, and reads the engine's output
 * frame by frame. `send…` reaches the engine immediately; `want…` takes the engine's next frame and fails if it is a
 * different one.
 */
import assert from 'node:assert/strict'
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import { ClientEngine } from '../../src/protocol/http2/client-engine.ts'
import {
  CONTINUATION,
  DATA,
  errorCodeName,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FLAG_PADDED,
  FLAG_PRIORITY,
  GOAWAY,
  HEADERS,
  PING,
  PREFACE,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import type { EngineOptions } from '../../src/protocol/http2/engine-state.ts'
import { type RecordedStream, Recorder, StreamRecorder } from './h2-recorder.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

export const GET: readonly string[] = [
  ':method',
  'GET',
  ':scheme',
  'http',
  ':authority',
  'a.test',
  ':path',
  '/',
]
export const POST: readonly string[] = [
  ':method',
  'POST',
  ':scheme',
  'http',
  ':authority',
  'a.test',
  ':path',
  '/',
]
export const HEAD: readonly string[] = [
  ':method',
  'HEAD',
  ':scheme',
  'http',
  ':authority',
  'a.test',
  ':path',
  '/',
]
export const CONNECT: readonly string[] = [':method', 'CONNECT', ':authority', 'b.test:443']

const TYPE_NAMES = [
  'DATA',
  'HEADERS',
  'PRIORITY',
  'RST_STREAM',
  'SETTINGS',
  'PUSH_PROMISE',
  'PING',
  'GOAWAY',
  'WINDOW_UPDATE',
  'CONTINUATION',
]

export const DEFAULTS: EngineOptions = {
  initialWindowSize: 262_144,
  connectionWindowSize: 524_288,
  // Its window does not grow with its streams, which few tests are about.
  growth: { maxConnectionWindow: 524_288, maxCoveringWindow: 524_288 },
  maxConcurrentStreams: 100,
  maxHeaderSize: 16_384,
}

/** The bytes of one frame. */
export function frameBytes(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(streamId, 5)
  return Buffer.concat([header, payload])
}

export function settingsPayload(entries: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(entries.length * 6)
  entries.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, i * 6)
    payload.writeUInt32BE(value, i * 6 + 2)
  })
  return payload
}

export function uint32(...values: number[]): Buffer {
  const payload = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => {
    payload.writeUInt32BE(value, i * 4)
  })
  return payload
}

/** Cuts a byte stream without a preface into frames; the rest must be empty. */
export function parseFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  let at = 0
  while (at < bytes.length) {
    const length = bytes.readUIntBE(at, 3)
    assert.ok(at + 9 + length <= bytes.length, 'output ends within a frame')
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      streamId: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, at + 9 + length),
    })
    at += 9 + length
  }
  return frames
}

export class FramePeer {
  readonly sink: Recorder = new Recorder()
  readonly engine: ClientEngine
  readonly encoder: HpackEncoder = new HpackEncoder()
  readonly decoder: HpackDecoder = new HpackDecoder({
    maxTableSize: 4096,
    maxListSize: 1 << 20,
    maxFields: 10_000,
  })
  /** The time that the engine sees. */
  now = 0
  #received: Frame[] = []
  #prefaceLeft = true

  constructor(options: Partial<EngineOptions> = {}) {
    this.engine = new ClientEngine(this.sink, { ...DEFAULTS, ...options })
  }

  /** A peer whose preface and settings have been exchanged and acknowledged. */
  static ready(
    options: Partial<EngineOptions> = {},
    settings: readonly (readonly [number, number])[] = [],
  ): FramePeer {
    const peer = new FramePeer(options)
    peer.sendSettings(settings)
    peer.sendSettingsAck()
    peer.frames()
    peer.sink.take()
    return peer
  }

  /** Opens a request as the owner of the engine would. */
  open(fields: readonly string[] = GET, endStream = true): RecordedStream {
    const sink = new StreamRecorder(this.sink)
    sink.stream = this.engine.open(fields, endStream, sink)
    return sink.stream
  }

  /** Opens a request and discards its HEADERS. */
  request(fields: readonly string[] = GET, endStream = true): RecordedStream {
    const stream = this.open(fields, endStream)
    this.wantHeaders(stream.id)
    return stream
  }

  /** The callbacks to the owner since the last call. */
  get heard(): string[] {
    return this.sink.take()
  }

  sendBytes(bytes: Uint8Array): void {
    const buf = Buffer.from(bytes)
    this.engine.receive(buf, 0, buf.length, this.now)
  }

  sendFrame(type: number, flags: number, streamId: number, payload: Uint8Array | string = ''): void {
    this.sendBytes(frameBytes(type, flags, streamId, Buffer.from(payload as string, 'latin1')))
  }

  sendSettings(entries: readonly (readonly [number, number])[] = []): void {
    this.sendFrame(SETTINGS, 0, 0, settingsPayload(entries))
  }

  sendSettingsAck(): void {
    this.sendFrame(SETTINGS, FLAG_ACK, 0)
  }

  /** The header block for `fields` from this peer's encoder. */
  block(fields: readonly string[]): Buffer {
    const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
    return out.subarray(0, this.encoder.encode(fields, out, 0))
  }

  sendHeaders(streamId: number, fields: readonly string[], endStream = false): void {
    const flags = FLAG_END_HEADERS | (endStream ? FLAG_END_STREAM : 0)
    this.sendFrame(HEADERS, flags, streamId, this.block(fields))
  }

  sendHead(streamId: number, status: number, endStream = false, fields: readonly string[] = []): void {
    this.sendHeaders(streamId, [':status', String(status), ...fields], endStream)
  }

  sendPaddedHeaders(streamId: number, fields: readonly string[], padding: number, endStream = false): void {
    const flags = FLAG_END_HEADERS | FLAG_PADDED | FLAG_PRIORITY | (endStream ? FLAG_END_STREAM : 0)
    const priority = Buffer.from([0x80, 0, 0, 0, 15])
    const parts = [Buffer.from([padding]), priority, this.block(fields), Buffer.alloc(padding)]
    this.sendFrame(HEADERS, flags, streamId, Buffer.concat(parts))
  }

  sendContinuation(streamId: number, fragment: Uint8Array, endHeaders: boolean): void {
    this.sendFrame(CONTINUATION, endHeaders ? FLAG_END_HEADERS : 0, streamId, fragment)
  }

  sendData(streamId: number, data: Uint8Array | string, endStream = false): void {
    this.sendFrame(DATA, endStream ? FLAG_END_STREAM : 0, streamId, data)
  }

  sendPaddedData(streamId: number, data: string, padding: number, endStream = false): void {
    const payload = Buffer.concat([
      Buffer.from([padding]),
      Buffer.from(data, 'latin1'),
      Buffer.alloc(padding),
    ])
    this.sendFrame(DATA, FLAG_PADDED | (endStream ? FLAG_END_STREAM : 0), streamId, payload)
  }

  sendReset(streamId: number, code: number): void {
    this.sendFrame(RST_STREAM, 0, streamId, uint32(code))
  }

  sendGoaway(lastStreamId: number, code: number, debug = ''): void {
    this.sendFrame(GOAWAY, 0, 0, Buffer.concat([uint32(lastStreamId, code), Buffer.from(debug, 'latin1')]))
  }

  sendWindowUpdate(streamId: number, increment: number): void {
    this.sendFrame(WINDOW_UPDATE, 0, streamId, uint32(increment))
  }

  sendPing(opaque: string, ack = false): void {
    this.sendFrame(PING, ack ? FLAG_ACK : 0, 0, opaque)
  }

  sendPriority(streamId: number): void {
    this.sendFrame(PRIORITY, 0, streamId, Buffer.from([0, 0, 0, 0, 15]))
  }

  sendPushPromise(streamId: number, promisedId: number): void {
    const payload = Buffer.concat([uint32(promisedId), this.block(GET)])
    this.sendFrame(PUSH_PROMISE, FLAG_END_HEADERS, streamId, payload)
  }

  /** Fetches the engine's pending output, once. */
  pull(): void {
    const output = this.engine.takeOutput()
    if (output === null) return
    let bytes = Buffer.concat(output)
    if (this.#prefaceLeft) {
      assert.equal(bytes.toString('latin1', 0, PREFACE.length), PREFACE)
      bytes = bytes.subarray(PREFACE.length)
      this.#prefaceLeft = false
    }
    this.#received.push(...parseFrames(bytes))
  }

  /** Fetches everything that the engine can send now. */
  pullAll(): void {
    do this.pull()
    while (this.engine.wantsOutput)
  }

  /** All frames of the engine that have not been taken yet. */
  frames(): Frame[] {
    this.pullAll()
    return this.#received.splice(0)
  }

  want(type: number): Frame {
    if (this.#received.length === 0) this.pullAll()
    const frame = this.#received.shift()
    assert.ok(frame, `wanted ${TYPE_NAMES[type]}, but the engine sent nothing`)
    assert.equal(TYPE_NAMES[frame.type], TYPE_NAMES[type])
    return frame
  }

  wantHeaders(streamId: number): { fields: string[]; endStream: boolean; frames: number } {
    const first = this.want(HEADERS)
    assert.equal(first.streamId, streamId)
    const fragments = [first.payload]
    for (let last = first; (last.flags & FLAG_END_HEADERS) === 0; ) {
      last = this.want(CONTINUATION)
      assert.equal(last.streamId, streamId)
      fragments.push(last.payload)
    }
    const fields: string[] = []
    const block = Buffer.concat(fragments)
    assert.equal(this.decoder.decode(block, 0, block.length, fields), HPACK_OK)
    return { fields, endStream: (first.flags & FLAG_END_STREAM) !== 0, frames: fragments.length }
  }

  wantData(streamId: number): { text: string; endStream: boolean } {
    const frame = this.want(DATA)
    assert.equal(frame.streamId, streamId)
    return { text: frame.payload.toString('latin1'), endStream: (frame.flags & FLAG_END_STREAM) !== 0 }
  }

  wantReset(streamId: number, code: number): void {
    const frame = this.want(RST_STREAM)
    assert.equal(frame.streamId, streamId)
    assert.equal(errorCodeName(frame.payload.readUInt32BE(0)), errorCodeName(code))
  }

  /** Returns the debug data. */
  wantGoaway(code: number): string {
    const frame = this.want(GOAWAY)
    assert.equal(frame.payload.readUInt32BE(0), 0)
    assert.equal(errorCodeName(frame.payload.readUInt32BE(4)), errorCodeName(code))
    return frame.payload.toString('latin1', 8)
  }

  wantWindowUpdate(streamId: number): number {
    const frame = this.want(WINDOW_UPDATE)
    assert.equal(frame.streamId, streamId)
    return frame.payload.readUInt32BE(0)
  }

  wantSettingsAck(): void {
    const frame = this.want(SETTINGS)
    assert.equal(frame.flags, FLAG_ACK)
    assert.equal(frame.payload.length, 0)
  }

  wantPing(ack: boolean): string {
    const frame = this.want(PING)
    assert.equal(frame.flags, ack ? FLAG_ACK : 0)
    return frame.payload.toString('latin1')
  }

  wantNothing(): void {
    assert.deepEqual(
      this.frames().map((frame) => `${TYPE_NAMES[frame.type]} ${frame.streamId}`),
      [],
    )
  }

  /** Asserts that the engine failed the connection with this code and reported that to its owner, last of all. */
  wantFailure(code: number, failureCode: number | string = code): string {
    const text = typeof failureCode === 'number' ? errorCodeName(failureCode) : failureCode
    assert.equal(this.sink.lines.at(-1), `failure peer ${text}`)
    const frames = this.frames()
    const goaway = frames.at(-1)
    assert.equal(goaway?.type, GOAWAY)
    assert.equal(errorCodeName(goaway.payload.readUInt32BE(4)), errorCodeName(code))
    assert.equal(this.engine.isClosed, true)
    assert.equal(this.engine.streams.size, 0)
    assert.equal(this.engine.canOpen, false)
    return goaway.payload.toString('latin1', 8)
  }
}
