/**
 * The socket that CONNECT and extended CONNECT give to their caller over HTTP/2: the two directions of one
 * stream as a Duplex.
 */

import { Duplex } from 'node:stream'
import { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { MAX_SHARED } from '../../base/bytes/held-bytes.ts'
import { ownBytes } from '../../base/bytes/own-bytes.ts'
import { PieceLoad } from '../../base/bytes/piece-load.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { coverPollution } from '../../base/object/own-options.ts'
import { InformationalError } from '../../errors.ts'

/** The stream below. */
export interface TunnelHost {
  /** False: `done` is called when there is room again; the bytes are taken in any case. */
  sendTunnel(bytes: Uint8Array, end: boolean): boolean
  /** The reader took these bytes. */
  releaseTunnel(bytes: number): void
  /** Whether it keeps the process alive. */
  referTunnel(on: boolean): void
  /** The local end of the connection below. */
  tunnelAddress(): object
  /** The caller is done with it; the stream is reset unless both sides have ended. */
  closeTunnel(): void
}

type Callback = (error?: Error | null) => void

export class Http2Tunnel extends Duplex {
  readonly #host: TunnelHost
  #blocked: Callback | null = null
  /** Bytes that the reader got without asking for more; the peer's window is still without them. */
  #unreleased = 0
  /** Bytes that the reader does not want yet; null if there are none. */
  #backlog: BodyBytes | null = null
  readonly #load = new PieceLoad()
  /** Our side has ended. */
  #finished = false
  /** The peer's side has ended. */
  #peerFinished = false
  /** Why nothing can be sent any more, while there is still something to read. The stream is gone. */
  #closed: Error | null = null
  /** Destroyed once more: the second caller does not want the error. */
  #abandoned = false

  constructor(host: TunnelHost) {
    super(coverPollution({ allowHalfOpen: true }))
    this.#host = host
  }

  /** As `net.Socket` has it. */
  address(): object {
    return this.#host.tunnelAddress()
  }

  /** As `net.Socket` has it. */
  ref(): this {
    if (!this.destroyed) this.#host.referTunnel(true)
    return this
  }

  /** As `net.Socket` has it: a tunnel that waits for nothing does not keep the process alive. */
  unref(): this {
    if (!this.destroyed) this.#host.referTunnel(false)
    return this
  }

  /** Bytes from the peer, lent for the length of the call. */
  deliver(memory: Buffer, start: number, end: number): void {
    const length = end - start
    if (this.destroyed || this.readableEnded) {
      this.#host.releaseTunnel(length)
    } else if (this.#unreleased > 0) {
      // The reader is behind: what it gets later may come together.
      this.#unreleased += length
      this.#backlog ??= BodyBytes.none()
      if (length > MAX_SHARED) this.#backlog.add(ownBytes(memory, start, end))
      else this.#backlog.addLent(memory, start, end)
    } else if (this.#give(ownBytes(memory, start, end))) {
      this.#host.releaseTunnel(length)
    } else {
      this.#unreleased = length
    }
  }

  /** False when the reader has enough. */
  #give(bytes: Buffer): boolean {
    this.#load.add(bytes, this.readableLength)
    return this.push(bytes) && !this.#isCrowded
  }

  get #isCrowded(): boolean {
    return this.#load.isHeavy(this.readableLength)
  }

  /** Hands over what the reader did not want before, as far as it does now. True: all of it. */
  #giveBacklog(): boolean {
    for (;;) {
      const bytes = this.#backlog?.shiftOwn()
      if (bytes === undefined) {
        this.#backlog = null
        return true
      }
      if (!this.#give(bytes)) return this.#backlog === null
    }
  }

  /** The peer has ended its side. */
  finish(): void {
    this.#peerFinished = true
    if (this.destroyed) return
    for (let bytes = this.#backlog?.shiftOwn(); bytes !== undefined; bytes = this.#backlog?.shiftOwn()) {
      this.push(bytes)
    }
    this.#backlog = null
    this.push(null)
    // A socket with nothing left to read emits `end` even if nothing reads from it. Code that awaits this one
    // can listen only after this turn.
    runtimeSetImmediate(() => this.read(0))
  }

  /** The stream takes more. */
  unblock(): void {
    const done = this.#blocked
    this.#blocked = null
    done?.()
  }

  /**
   * Nothing can be sent any more; an error unless nothing was to be sent. A proxy closes both directions with
   * RST_STREAM of NO_ERROR after its END_STREAM (RFC 9113 §8.1): what it sent before is read to its end.
   */
  onStreamClosed(reason: Error | null): void {
    if (this.#finished || this.destroyed) return
    const error = reason ?? new InformationalError('HTTP/2: stream closed by the server')
    const isOrderly = reason === null && this.#peerFinished && this.writableLength === 0
    if (!this.#peerFinished || this.readableEnded) {
      this.destroy(isOrderly ? undefined : error)
      return
    }
    this.#closed = error
    this.#host.closeTunnel()
    this.once('end', () => this.destroy(isOrderly ? undefined : error))
  }

  override destroy(error?: Error): this {
    if (this.destroyed) this.#abandoned = true
    return super.destroy(error)
  }

  override read(size?: number): ReturnType<Duplex['read']> {
    const isCrowded = size !== 0 && this.#isCrowded
    const chunk = super.read(size)
    if (isCrowded) this.#goOn()
    return chunk
  }

  override _read(): void {
    if (!this.#isCrowded) this.#goOn()
  }

  /** The reader wants more. */
  #goOn(): void {
    if (this.#unreleased === 0 || !this.#giveBacklog() || this.destroyed) return
    const bytes = this.#unreleased
    this.#unreleased = 0
    if (this.#closed === null) this.#host.releaseTunnel(bytes)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Callback): void {
    if (this.#closed !== null) done(this.#closed)
    else if (this.#host.sendTunnel(chunk, false)) done()
    else this.#blocked = done
  }

  override _final(done: Callback): void {
    this.#finished = true
    if (this.#closed === null) this.#host.sendTunnel(NO_BYTES, true)
    done()
  }

  override _destroy(error: Error | null, done: Callback): void {
    this.#blocked = null
    this.#backlog = null
    if (this.#closed === null) this.#host.closeTunnel()
    const listeners = this.listenerCount('error') - this.listenerCount('error', ignoreError)
    if (error === null || listeners > 0) {
      done(error)
      return
    }
    // The bytes that open a stream may end it, too. Code that awaits the socket can listen after this turn.
    runtimeSetImmediate(() => done(this.#abandoned ? null : error))
  }
}
