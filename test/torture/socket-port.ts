/** The server's end of a real connection, for the origins of the torture and chaos runs. */
import type { Socket } from 'node:net'
import type { OriginPort } from './origin-port.ts'

export class SocketPort implements OriginPort {
  onBytes: (bytes: Buffer) => void = () => {}
  onGone: () => void = () => {}
  readonly socket: Socket
  readonly #tcp: Socket

  /** `tcp` is the underlying connection if `socket` is TLS: only that can be reset. */
  constructor(socket: Socket, tcp: Socket = socket) {
    this.socket = socket
    this.#tcp = tcp
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.onBytes(bytes))
    socket.on('end', () => this.onGone())
    socket.on('close', () => this.onGone())
    // These runs expect clients to disappear.
    socket.on('error', () => {})
  }

  get isOpen(): boolean {
    return this.socket.writable
  }

  send(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes)
  }

  end(): void {
    if (this.socket.writable) this.socket.end()
  }

  reset(): void {
    // The end of TLS has ended the underlying connection, which was not notified.
    if (this.socket.writableEnded) this.socket.destroy()
    else resetConnection(this.#tcp)
  }
}

/** The runtime cannot reset a socket that it has already ended, and would never release its handle. */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
