/** Frames as a server sends them, and a receiver that records its events. */
import type { WebSocketFailure } from '../../../src/protocol/websocket/failures.ts'
import type { WebSocketLimits } from '../../../src/protocol/websocket/limits.ts'
import type { MessageBytes } from '../../../src/protocol/websocket/message-collector.ts'
import { type Compression, Receiver, type ReceiverSink } from '../../../src/protocol/websocket/receiver.ts'

export const TEXT = 0x1
export const BINARY = 0x2
export const CONTINUATION = 0x0
export const CLOSE = 0x8
export const PING = 0x9
export const PONG = 0xa

export interface FrameShape {
  readonly fin?: boolean
  readonly rsv?: number
  readonly masked?: boolean
  /** 16 or 64 bits of length, even if fewer would suffice. */
  readonly lengthBits?: 7 | 16 | 64
}

export function serverFrame(
  opcode: number,
  payload: Uint8Array | string = '',
  shape: FrameShape = {},
): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload
  const { fin = true, rsv = 0, masked = false } = shape
  const bits = shape.lengthBits ?? (body.length < 126 ? 7 : body.length < 65_536 ? 16 : 64)
  const head = Buffer.alloc(bits === 7 ? 2 : bits === 16 ? 4 : 10)
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode
  head[1] = (masked ? 0x80 : 0) | (bits === 7 ? body.length : bits === 16 ? 126 : 127)
  if (bits === 16) head.writeUInt16BE(body.length, 2)
  if (bits === 64) head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, body])
}

export function closePayload(code: number, reason: string | Uint8Array = ''): Buffer {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(code)
  return Buffer.concat([head, Buffer.from(reason as string)])
}

export const NO_LIMITS: WebSocketLimits = { maxFragments: 0, maxPayloadSize: 0 }

/** Everything that came out, in order: `text hi`, `binary 0102`, `close 1000 bye`, `failed 1002 …`. */
export class RecordingSink implements ReceiverSink {
  readonly events: string[] = []
  /** Called after each note, with the receiver. */
  after: (receiver: Receiver) => void = () => {}
  readonly receiver: Receiver

  constructor(limits: WebSocketLimits = NO_LIMITS, compression: Compression = 'none') {
    this.receiver = new Receiver(this, limits, compression)
  }

  #note(event: string): void {
    this.events.push(event)
    this.after(this.receiver)
  }

  onMessage(data: string | MessageBytes): void {
    this.#note(typeof data === 'string' ? `text ${data}` : `binary ${data.toString('hex')}`)
  }

  onCompressed(bytes: Buffer, start: number, end: number, last: boolean): void {
    this.#note(`compressed ${bytes.toString('hex', start, end)}${last ? ' last' : ''}`)
  }

  onPing(payload: Buffer): void {
    this.#note(`ping ${payload.toString('hex')}`)
  }

  onPong(payload: Buffer): void {
    this.#note(`pong ${payload.toString('hex')}`)
  }

  onClose(code: number, reason: string): void {
    this.#note(`close ${code} ${reason}`)
  }

  onFailure(failure: WebSocketFailure): void {
    this.#note(`failed ${failure.code} ${failure.message}`)
  }
}

/** The receiver's events for these bytes, fed in pieces that end at the offsets. */
export function receive(
  bytes: Buffer,
  limits: WebSocketLimits = NO_LIMITS,
  compression: Compression = 'none',
  cuts: readonly number[] = [],
): string[] {
  const sink = new RecordingSink(limits, compression)
  let at = 0
  for (const cut of [...cuts, bytes.length]) {
    sink.receiver.execute(bytes, at, cut)
    at = cut
  }
  return sink.events
}
