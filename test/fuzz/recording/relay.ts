/** A relay on loopback that keeps a copy of the server's bytes on the first connection. */
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

export class Relay {
  readonly #server: net.Server
  readonly #heard: Buffer[] = []
  readonly #sockets: net.Socket[] = []

  private constructor(target: number) {
    this.#server = net.createServer((socket) => {
      const upstream = net.connect(target, '127.0.0.1')
      if (this.#sockets.length === 0) upstream.on('data', (chunk: Buffer) => this.#heard.push(chunk))
      this.#sockets.push(socket, upstream)
      for (const end of [socket, upstream]) end.on('error', () => {})
      socket.pipe(upstream).pipe(socket)
    })
  }

  static async open(target: net.Server): Promise<Relay> {
    const relay = new Relay(portOf(target))
    await listen(relay.#server)
    return relay
  }

  get port(): number {
    return portOf(this.#server)
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Ends everything and returns the copy. */
  async close(): Promise<Buffer> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
    return Buffer.concat(this.#heard)
  }
}

export async function listen(server: net.Server): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

function portOf(server: net.Server): number {
  return (server.address() as AddressInfo).port
}
