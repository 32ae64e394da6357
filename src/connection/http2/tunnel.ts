/**
 * The socket that CONNECT and extended CONNECT give to their caller over HTTP/2: the two directions of one
 * stream as a Duplex.
 */

import { Duplex } from 'node:stream'
import { NO_BYTES } from '../../base/empty.ts'
import { ignoreError } from '../../base/ignore-error.ts'
import { coverPollution } from '../../base/own-options.ts'
import { runtimeSetImmediate } from '../../base/runtime-turns.ts'
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
  /** Bytes pushed that the reader has not asked beyond yet. */
  #unreleased = 0
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

  /** Bytes from the peer. */
  deliver(bytes: Buffer): void {
    // Afterwards its memory may have gone to another thread.
    const { length } = bytes
    const isWanted = !this.destroyed && !this.readableEnded
    if (isWanted && !this.push(bytes)) this.#unreleased += length
    else this.#host.releaseTunnel(length)
  }

  /** The peer has ended its side. */
  finish(): void {
    this.#peerFinished = true
    if (this.destroyed) return
    this.push(null)
    // A socket with nothing left to read emits `end` even if nothing reads from it. Code that awaits this one can
    // listen only after this turn.
    runtimeSetImmediate(() => this.read(0))
  }

  /** The stream takes more. */
  unblock(): void {
    const done = this.#blocked
    this.#blocked = null
    done?.()
  }

  /**
   * Nothing can be sent any more; an error unless nothing was to be sent. A proxy closes both directions with RST_STREAM
   * of NO_ERROR after its END_STREAM (RFC 9113 §8.1): what it sent before is read to its end.
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

  override _read(): void {
    const bytes = this.#unreleased
    this.#unreleased = 0
    if (bytes > 0 && this.#closed === null) this.#host.releaseTunnel(bytes)
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
    if (this.#closed === null) this.#host.closeTunnel()
    const listeners = this.listenerCount('error') - this.listenerCount('error', ignoreError)
    if (error === null || listeners > 0) {
      done(error)
      return
    }
    // The bytes that open a stream may end it, too. Who awaits the socket can listen only after this turn.
    runtimeSetImmediate(() => done(this.#abandoned ? null : error))
  }
}
