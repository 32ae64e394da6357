/** An in-memory connection: the client's socket, and the server's after an upgrade. */

import { Duplex } from 'node:stream'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { clearTimer, startInterval } from '../../base/loop/timer.ts'
import { LONGEST_DELAY } from './wire-step.ts'

/** Bytes per connection kept for `agent.wire`. */
const MOST_KEPT = 16 * 1024 * 1024

/** Gets what the client writes. */
export interface WireListener {
  onBytes(bytes: Buffer): void
  /** The client writes no more. */
  onEnd(): void
  /** The client has closed the connection, or it was reset. */
  onClosed(): void
}

/** The client's socket. */
export class WireSocket extends Duplex {
  readonly remoteAddress = 'in-memory'
  bytesWritten = 0
  bytesRead = 0
  readonly origin: string
  /** Set for HTTP/2. */
  readonly alpnProtocol: string | undefined
  readonly written: Buffer[] = []
  listener: WireListener | null = null
  #isFinished = false
  #wake: (() => void) | null = null
  /** Keeps the process alive, as a socket does. */
  readonly #hold = startInterval(() => {}, LONGEST_DELAY)

  constructor(origin: string, alpnProtocol?: string) {
    super()
    this.origin = origin
    this.alpnProtocol = alpnProtocol
    this.on('close', () => {
      clearTimer(this.#hold)
      this.#wake?.()
      this.listener?.onClosed()
    })
  }

  ref(): this {
    if (!this.destroyed) this.#hold.ref?.()
    return this
  }

  unref(): this {
    this.#hold.unref?.()
    return this
  }

  override _read(): void {
    this.#wake?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length
    const bytes = Buffer.from(chunk)
    if (this.bytesWritten <= MOST_KEPT) this.written.push(bytes)
    // In a later turn: no server answers within the client's own turn.
    runtimeSetImmediate(() => this.listener?.onBytes(bytes))
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    done()
    // After the bytes that were written before.
    runtimeSetImmediate(() => this.listener?.onEnd())
  }

  /** Bytes for the client. Resolves when it wants more. */
  async feed(bytes: Buffer): Promise<void> {
    if (this.destroyed || this.#isFinished || bytes.length === 0) return
    this.bytesRead += bytes.length
    if (!this.push(bytes)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** The other side closes. */
  finish(): void {
    if (this.destroyed || this.#isFinished) return
    this.#isFinished = true
    this.push(null)
  }

  /** The connection breaks. */
  reset(code: string): void {
    this.destroy(systemError(code))
  }
}

/** The server's socket after an upgrade. */
export function serverSocket(client: WireSocket): Duplex {
  const server = new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, done) => {
      client.feed(Buffer.from(chunk)).then(() => done(), done)
    },
    final: (done) => {
      client.finish()
      done()
    },
    destroy: (error, done) => {
      if (error === null) client.finish()
      else client.reset('ECONNRESET')
      done(error)
    },
  })
  const push = (bytes: Buffer | null): void => {
    if (!server.destroyed && !server.readableEnded) server.push(bytes)
  }
  client.listener = {
    onBytes: push,
    onEnd: () => push(null),
    onClosed: () => {
      push(null)
      if (client.errored) server.destroy()
    },
  }
  // The caller may not listen for errors; the client reports the failure.
  return server.on('error', () => {})
}

/** The error that the system reports for a broken connection. */
export function systemError(code: string, syscall = 'read'): Error {
  const errno = process.platform === 'linux' && code === 'ECONNRESET' ? -104 : undefined
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall, ...(errno && { errno }) })
}
