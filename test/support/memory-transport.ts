/** A Transport without an underlying stream: tests see each call of a connection and drive its sink. */
import { Duplex } from 'node:stream'
import type { SocketInfo } from '../../src/errors.ts'
import type { Transport, TransportSink } from '../../src/net/stream-transport.ts'

export class MemoryTransport implements Transport {
  readonly isPolled = false
  readonly socket: Duplex = new Duplex({ read() {} })
  congested = false
  written = ''
  reading = true
  referenced = true
  typesOfService: number[] = []
  destroyedWith: Error | null | undefined
  detachedWith: string | null = null
  sink: TransportSink | null = null

  attach(sink: TransportSink): void {
    this.sink = sink
  }

  #put(data: string | Uint8Array): void {
    this.written += typeof data === 'string' ? data : Buffer.from(data).toString('latin1')
  }

  writeNow(data: string | Uint8Array): void {
    this.#put(data)
  }

  writeAll(pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) this.#put(piece)
  }

  writeAllNow(pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) this.#put(piece)
  }

  setReading(on: boolean): void {
    this.reading = on
  }

  setReferenced(on: boolean): void {
    this.referenced = on
  }

  readAnswerFirst(): void {}

  setTypeOfService(value: number): void {
    this.typesOfService.push(value)
  }

  info(): SocketInfo {
    return { remoteAddress: '192.0.2.1', remotePort: 80, bytesWritten: this.written.length, bytesRead: 0 }
  }

  detach(unread: Uint8Array): Duplex {
    this.detachedWith = Buffer.from(unread).toString('latin1')
    this.sink = null
    return this.socket
  }

  destroy(error: Error | null): void {
    this.destroyedWith ??= error
  }

  end(error: Error | null): void {
    this.destroy(error)
  }

  say(...parts: string[]): this {
    const bytes = Buffer.from(`${parts.join('')}.`, 'latin1')
    this.sink?.onBytes(bytes, bytes.length - 1)
    // The memory was lent: the next read overwrites it.
    bytes.fill('~')
    return this
  }
}
