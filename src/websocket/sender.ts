/**
 * Sends everything in order: a message that must first be read from a Blob or compressed holds back those
 * after it. Counts the bytes that have not been sent yet.
 */

import type { Duplex } from 'node:stream'
import { RingQueue } from '../base/collection/ring-queue.ts'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'
import { BINARY, PING, PONG, TEXT } from '../protocol/websocket/constants.ts'
import { encodeCloseFrame, encodeFrame, encodeTextFrame } from '../protocol/websocket/frame-encoder.ts'
import { nextMaskKey } from './mask-key.ts'
import type { MessageDeflater } from './message-deflater.ts'

/** What was written in this turn of the event loop. `some`: one frame, which was sent at once. */
type Turn = 'nothing' | 'some' | 'corked'

const nothing = (): void => {}

export class Sender {
  readonly #socket: Duplex
  readonly #deflater: MessageDeflater | null
  /** A message cannot be sent, so neither can those after it. */
  readonly #onFailed: (error: Error) => void
  readonly #queue = new RingQueue<() => void>()
  /** A message is being read or compressed; those in the queue wait for it. */
  #waiting = false
  #stopped = false
  #closeSent = false
  #turn: Turn = 'nothing'
  #buffered = 0
  /** The answer to the latest ping, while the socket takes nothing. */
  #pong: Uint8Array | null = null
  readonly #endTurn = (): void => {
    const isCorked = this.#turn === 'corked'
    this.#turn = 'nothing'
    try {
      if (isCorked) this.#socket.uncork()
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }

  constructor(socket: Duplex, deflater: MessageDeflater | null, onFailed: (error: Error) => void) {
    this.#socket = socket
    this.#deflater = deflater
    this.#onFailed = onFailed
    socket.on('drain', () => this.#sendHeldPong())
  }

  /** Bytes of messages that have not been handed to the network yet. */
  get buffered(): number {
    return this.#buffered
  }

  /** `written` is called when the message was sent, here and in `binary`. */
  text(text: string, written: () => void = nothing): void {
    const size = Buffer.byteLength(text)
    this.#buffered += size
    this.#enqueue(() => this.#sendData(text, size, written))
  }

  /** The bytes are copied before it returns. */
  binary(bytes: Uint8Array, written: () => void = nothing): void {
    // A message that does not have to wait is copied when it is encoded or compressed.
    const data = this.#waiting ? Uint8Array.from(bytes) : bytes
    this.#buffered += data.length
    this.#enqueue(() => this.#sendData(data, data.length, written))
  }

  blob(blob: Blob): void {
    this.#buffered += blob.size
    this.#enqueue(() => this.#readBlob(blob, blob.size))
  }

  ping(payload: Uint8Array): void {
    const frame = encodeFrame(PING, false, [payload], payload.length, nextMaskKey())
    this.#enqueue(() => this.#write(frame, 0, nothing))
  }

  /**
   * Does not wait for messages. If a peer pings but does not read, only the latest answer is kept, which RFC
   * 6455 §5.5.3 allows.
   */
  pong(payload: Uint8Array): void {
    if (this.#stopped) return
    if (this.#socket.writableNeedDrain) this.#pong = payload
    else this.#write(encodeFrame(PONG, false, [payload], payload.length, nextMaskKey()), 0, nothing)
  }

  /** Sends a close frame after all messages. `written` is called when it was sent. */
  close(code: number | null, reason: string, written: () => void): void {
    const frame = encodeCloseFrame(code, reason, nextMaskKey())
    this.#enqueue(() => {
      this.#closeSent = true
      this.#write(frame, 0, written)
    })
  }

  /** Discards unwritten messages, and closes with this unless a close frame has been sent. */
  abort(code: number, reason: string): void {
    this.stop()
    if (!this.#closeSent) this.#write(encodeCloseFrame(code, reason, nextMaskKey()), 0, nothing)
  }

  /** Discards unwritten messages. */
  stop(): void {
    this.#stopped = true
    this.#pong = null
    this.#deflater?.close()
    while (this.#queue.shift() !== null);
  }

  #enqueue(send: () => void): void {
    if (this.#stopped) return
    if (this.#waiting) this.#queue.push(send)
    else send()
  }

  #readBlob(blob: Blob, size: number): void {
    this.#waiting = true
    blob.arrayBuffer().then(
      (memory) => {
        if (this.#stopped) return
        this.#waiting = false
        this.#sendData(new Uint8Array(memory), size, nothing)
        this.#runQueue()
      },
      (error: Error) => {
        if (!this.#stopped) this.#onFailed(error)
      },
    )
  }

  #sendData(data: string | Uint8Array, size: number, written: () => void): void {
    if (this.#deflater?.wants(size)) {
      this.#compress(this.#deflater, data, size, written)
    } else if (typeof data === 'string') {
      this.#write(encodeTextFrame(TEXT, data, size, nextMaskKey()), size, written)
    } else {
      this.#write(encodeFrame(BINARY, false, [data], size, nextMaskKey()), size, written)
    }
  }

  #compress(deflater: MessageDeflater, data: string | Uint8Array, size: number, written: () => void): void {
    this.#waiting = true
    const opcode = typeof data === 'string' ? TEXT : BINARY
    // Bytes are copied, too: they belong to the caller again when `send()` returns.
    const bytes = Buffer.from(data as string)
    deflater.deflate(bytes, (error, deflated) => {
      if (this.#stopped) return
      if (error !== null) {
        this.#onFailed(error)
        return
      }
      this.#waiting = false
      const payload = deflated ?? bytes
      const frame = encodeFrame(opcode, deflated !== null, [payload], payload.length, nextMaskKey())
      this.#write(frame, size, written)
      this.#runQueue()
    })
  }

  #runQueue(): void {
    while (!this.#waiting) {
      const send = this.#queue.shift()
      if (send === null) return
      send()
    }
  }

  #sendHeldPong(): void {
    const payload = this.#pong
    this.#pong = null
    if (payload !== null) this.pong(payload)
  }

  /**
   * The first frame of a turn is sent at once, since it is usually the only one; others are sent together.
   */
  #write(frame: Buffer, size: number, written: () => void): void {
    if (!this.#socket.writable) return
    // A Duplex of the caller may throw. That must end this connection, not the program that calls `close()`.
    try {
      if (this.#turn === 'nothing') {
        this.#turn = 'some'
        runtimeNextTick(this.#endTurn)
      } else if (this.#turn === 'some') {
        this.#turn = 'corked'
        this.#socket.cork()
      }
      this.#socket.write(frame, (error) => {
        if (error) return
        this.#buffered -= size
        written()
      })
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }
}
