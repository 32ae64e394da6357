/** The chaos origin on real sockets and in real time, for programs without a fake clock. */
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import { localhost } from '../support/certificates.ts'
import type { Wire } from '../support/wire.ts'
import { SocketPort } from '../torture/socket-port.ts'
import { ChaosOrigin } from './chaos-origin.ts'
import type { Random } from './random.ts'

/** Maximum delay of a slow answer, in milliseconds. */
const SLOW = 100

export class CarelessOrigin {
  readonly chaos: ChaosOrigin
  /** Open connections, by the port of the client. */
  readonly sockets: Map<number, Socket> = new Map()
  connections = 0
  readonly #server: net.Server
  readonly #wire: Wire

  constructor(wire: Wire, random: Random) {
    this.#wire = wire
    const schedule = {
      soon: (task: () => void) => void setImmediate(task),
      after: (milliseconds: number, task: () => void) => void setTimeout(task, milliseconds).unref(),
    }
    this.chaos = new ChaosOrigin(wire.multiplexes ? 'h2' : 'h1', random, schedule, SLOW)
    this.#server = wire.secure
      ? tls.createServer({ ...localhost, ALPNProtocols: [wire.multiplexes ? 'h2' : 'http/1.1'] })
      : net.createServer()
    this.#server.on('connection', (socket: Socket) => this.#onConnection(socket))
    this.#server.on('secureConnection', (socket: Socket) => this.#onSocket(socket))
    this.#server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const { port } = this.#server.address() as AddressInfo
    return `${this.#wire.secure ? 'https' : 'http'}://127.0.0.1:${port}`
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.sockets.values()) socket.destroy()
    await closed
  }

  #onConnection(socket: Socket): void {
    this.connections++
    const remotePort = socket.remotePort!
    this.sockets.set(remotePort, socket)
    socket.on('error', () => {}).on('close', () => this.sockets.delete(remotePort))
    if (!this.#wire.secure) this.#onSocket(socket)
  }

  #onSocket(socket: Socket): void {
    this.chaos.accept(new SocketPort(socket, this.sockets.get(socket.remotePort!)))
  }
}
