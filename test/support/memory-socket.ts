/** A connected Duplex that is not a net.Socket, as a custom `connect` function may deliver it. */
import { Duplex, type DuplexOptions } from 'node:stream'

export class MemorySocket extends Duplex {
  /** Everything the client wrote, latin1. */
  written = ''
  /** Set to hold writes back until `release()`. */
  held = false
  #finished = false
  #waiting: (() => void) | null = null

  constructor(options: DuplexOptions = {}) {
    super({ ...options, emitClose: true })
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const take = (): void => {
      this.written += chunk.toString('latin1')
      done()
    }
    if (this.held) this.#waiting = take
    else take()
  }

  release(): void {
    this.held = false
    const take = this.#waiting
    this.#waiting = null
    take?.()
  }

  /** The peer sends these bytes. */
  say(...parts: string[]): this {
    if (!this.destroyed && !this.#finished) this.push(Buffer.from(parts.join(''), 'latin1'))
    return this
  }

  /** The peer closes its side. */
  finish(): this {
    if (!this.destroyed && !this.#finished) this.push(null)
    this.#finished = true
    return this
  }

  /** The peer resets the connection. */
  reset(): this {
    return this.destroy(connectionReset())
  }
}

/** The runtime's error for a connection that a peer reset. */
export function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read', errno: -104 })
}
