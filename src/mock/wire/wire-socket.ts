/**
 * A connection in memory: the end that a client reads and writes, and the end that the mock does.
 */

import { Duplex } from 'node:stream'
import { runtimeSetImmediate } from '../../base/runtime-turns.ts'
import { clearTimer, startInterval } from '../../base/timer.ts'

/** Milliseconds; the longest interval of the runtime. */
const LONG = 2 ** 31 - 1

/** Bytes of a connection that are kept for `agent.wire`. */
const MOST_KEPT = 16 * 1024 * 1024

/** What the mock does with the bytes of a client. */
export interface WireListener {
  onBytes(bytes: Buffer): void
  /** The client writes no more. */
  onEnd(): void
  /** The client has closed the connection, or it was reset. */
  onClosed(): void
}

/** The end of the client. */
export class WireSocket extends Duplex {
  readonly remoteAddress = 'in-memory'
  bytesWritten = 0
  bytesRead = 0
  /** Set for HTTP/2. */
  readonly alpnProtocol: string | undefined
  readonly written: Buffer[] = []
  #listener: WireListener | null = null
  #isFinished = false
  #wake: (() => void) | null = null
  /** Keeps the process alive, as a socket does. */
  #hold: ReturnType<typeof setInterval> | null = null

  constructor(alpnProtocol?: string) {
    super({ emitClose: true, autoDestroy: true })
    this.alpnProtocol = alpnProtocol
    this.ref()
    this.on('close', () => {
      this.unref()
      this.#release()
      this.#listener?.onClosed()
    })
  }

  ref(): this {
    if (!this.destroyed) this.#hold ??= startInterval(() => {}, LONG)
    return this
  }

  unref(): this {
    if (this.#hold !== null) clearTimer(this.#hold)
    this.#hold = null
    return this
  }

  set listener(listener: WireListener) {
    this.#listener = listener
  }

  override _read(): void {
    this.#release()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length
    const bytes = Buffer.from(chunk)
    if (this.bytesWritten <= MOST_KEPT) this.written.push(bytes)
    // Bytes take a turn of the event loop: no server answers before the client has finished its own.
    runtimeSetImmediate(() => this.#listener?.onBytes(bytes))
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    done()
    // After the bytes that were written before.
    runtimeSetImmediate(() => this.#listener?.onEnd())
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

  #release(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}

/** The end of the mock, for a connection that was handed over. */
export class WireServerSocket extends Duplex implements WireListener {
  readonly #client: WireSocket

  constructor(client: WireSocket) {
    super({ emitClose: true })
    this.#client = client
    // A caller may not listen, and the failure is the client's to report.
    this.on('error', () => {})
  }

  onBytes(bytes: Buffer): void {
    if (!this.destroyed && !this.readableEnded) this.push(bytes)
  }

  onEnd(): void {
    if (!this.destroyed && !this.readableEnded) this.push(null)
  }

  onClosed(): void {
    this.onEnd()
    if (this.#client.errored) this.destroy()
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#client.feed(Buffer.from(chunk)).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#client.finish()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error !== null) this.#client.reset('ECONNRESET')
    else this.#client.finish()
    done(error)
  }
}

/** The error that the system reports for a broken connection. */
export function systemError(code: string, syscall = 'read'): Error {
  const errno = process.platform === 'linux' && code === 'ECONNRESET' ? -104 : undefined
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall, ...(errno && { errno }) })
}
