/**
 * A connection to a node:http2 server with handmade frames, so that it uses nothing of the library except the HPACK
 * codec. The server answers each request with fields that the test provides.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2, { type OutgoingHttpHeaders } from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import {
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  GOAWAY,
  HEADERS,
  PREFACE,
  SETTINGS,
  SETTINGS_HEADER_TABLE_SIZE,
} from '../../src/protocol/http2/constants.ts'
import { type Frame, frameBytes, settingsPayload } from '../support/frame-peer.ts'

const HEAD_LENGTH = 9
/** The initial size in HTTP/2; the codec only gets changes. */
const START_SIZE = 4096

export class NodeHpackPeer {
  readonly #encoder = new HpackEncoder({ maxTableSize: 16_384 })
  readonly #decoder = new HpackDecoder({ maxTableSize: START_SIZE, maxListSize: 1 << 20, maxFields: 500 })
  readonly #server: http2.Http2Server = http2.createServer()
  readonly #sessions: http2.ServerHttp2Session[] = []
  readonly #frames: AsyncGenerator<Frame, void>
  readonly #socket: net.Socket
  /** Table sizes that we have announced and the server has not acknowledged. */
  readonly #announced: number[] = []
  #nextStream = 1
  #reply: OutgoingHttpHeaders = {}
  #received: readonly string[] = []

  private constructor() {
    this.#server.on('session', (session) => this.#sessions.push(session))
    this.#server.on(
      'stream',
      (stream: http2.ServerHttp2Stream, _headers: unknown, _flags: number, raw: string[]) => {
        this.#received = [...raw]
        stream.respond(this.#reply, { endStream: true })
      },
    )
    this.#socket = new net.Socket()
    this.#frames = framesOf(this.#socket)
  }

  static async open(): Promise<NodeHpackPeer> {
    const peer = new NodeHpackPeer()
    await once(peer.#server.listen(0, '127.0.0.1'), 'listening')
    peer.#socket.connect((peer.#server.address() as AddressInfo).port, '127.0.0.1')
    await once(peer.#socket, 'connect')
    peer.#socket.write(PREFACE, 'latin1')
    peer.announce(START_SIZE)
    return peer
  }

  /** Our side of the table, in effect once the server has acknowledged it. */
  announce(size: number): void {
    this.#announced.push(size)
    this.#socket.write(frameBytes(SETTINGS, 0, 0, settingsPayload([[SETTINGS_HEADER_TABLE_SIZE, size]])))
  }

  /** The server's side of the table; done when our acknowledgement has arrived. */
  async resize(size: number): Promise<void> {
    const session = this.#sessions[0]!
    const settled = once(session, 'localSettings')
    session.settings({ headerTableSize: size })
    await this.#until((frame) => frame.type === SETTINGS && (frame.flags & FLAG_ACK) === 0)
    await settled
  }

  /** Our fields as the server decoded them, and its reply as we decoded it. */
  async exchange(
    fields: readonly string[],
    reply: OutgoingHttpHeaders,
  ): Promise<{ readonly received: readonly string[]; readonly decoded: readonly string[] }> {
    this.#reply = reply
    const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
    const end = this.#encoder.encode(fields, out, 0)
    const id = this.#nextStream
    this.#nextStream += 2
    this.#socket.write(frameBytes(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, out.subarray(0, end)))
    const { payload } = await this.#until((frame) => frame.type === HEADERS && frame.streamId === id)
    const decoded: string[] = []
    assert.equal(this.#decoder.decode(payload, 0, payload.length, decoded), HPACK_OK, this.#decoder.message)
    return { received: this.#received, decoded }
  }

  async close(): Promise<void> {
    this.#socket.destroy()
    for (const session of this.#sessions) session.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #until(wanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const { value: frame } = await this.#frames.next()
      if (frame === undefined) throw new Error('the server closed the connection')
      if (frame.type === GOAWAY) throw new Error(`GOAWAY ${frame.payload.readUInt32BE(4)}`)
      if (frame.type === SETTINGS) this.#onSettings(frame)
      if (wanted(frame)) return frame
    }
  }

  #onSettings({ flags, payload }: Frame): void {
    if ((flags & FLAG_ACK) !== 0) {
      this.#decoder.setMaxTableSize(this.#announced.shift()!)
      return
    }
    for (let at = 0; at < payload.length; at += 6) {
      if (payload.readUInt16BE(at) === SETTINGS_HEADER_TABLE_SIZE) {
        this.#encoder.setMaxTableSize(payload.readUInt32BE(at + 2))
      }
    }
    this.#socket.write(frameBytes(SETTINGS, FLAG_ACK, 0, Buffer.alloc(0)))
  }
}

async function* framesOf(socket: net.Socket): AsyncGenerator<Frame, void> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= HEAD_LENGTH) {
      const end = HEAD_LENGTH + pending.readUIntBE(0, 3)
      if (pending.length < end) break
      const streamId = pending.readUInt32BE(5)
      yield { type: pending[3]!, flags: pending[4]!, streamId, payload: pending.subarray(HEAD_LENGTH, end) }
      pending = pending.subarray(end)
    }
  }
}
