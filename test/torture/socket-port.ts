/** The server's end of a real connection, as the origins of the torture and chaos runs want it. */
import type { Socket } from 'node:net'
import type { OriginPort } from './origin-port.ts'

export class SocketPort implements OriginPort {
  onBytes: (bytes: Buffer) => void = () => {}
  onGone: () => void = () => {}
  readonly socket: Socket
  readonly #tcp: Socket

  /** `tcp` is the connection below, where `socket` is TLS: only that can be reset. */
  constructor(socket: Socket, tcp: Socket = socket) {
    this.socket = socket
    this.#tcp = tcp
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.onBytes(bytes))
    socket.on('end', () => this.onGone())
    socket.on('close', () => this.onGone())
    // A client that goes away is what these runs are about.
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
    // The end of TLS has ended the connection below, which does not know of it.
    if (this.socket.writableEnded) this.socket.destroy()
    else resetConnection(this.#tcp)
  }
}

/** The runtime cannot reset what it has ended before, and would keep its handle for ever. */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
