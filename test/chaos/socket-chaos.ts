/**
 * A chaos run over real sockets on loopback. The seed determines the actions, but not the order in which the system
 * delivers them; the checks afterwards are the same.
 */
import { channel } from 'node:diagnostics_channel'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import type { ClientOptions } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import type { Wire } from '../support/wire.ts'
import { SocketPort } from '../torture/socket-port.ts'
import { ChaosRun, type Mischief } from './chaos-run.ts'
import type { ChaosReport } from './report.ts'

export class SocketChaos extends ChaosRun {
  protected readonly wire: string
  /** All ends of all connections are in this process, so written data can be read soon. */
  protected readonly calmTurns = 200
  readonly #wire: Wire
  readonly #server: net.Server
  readonly #ports = new Set<SocketPort>()
  readonly #clientEnds: net.Socket[] = []
  /** Connections by the client's port: TLS hides them, and only they can be reset. */
  readonly #tcp = new Map<number, net.Socket>()
  #accepts = true
  #port = 0

  constructor(seed: number, requests: number, wire: Wire) {
    super(seed, requests, wire.multiplexes ? 'h2' : 'h1')
    this.#wire = wire
    this.wire = wire.name
    this.#server = wire.secure
      ? tls.createServer({ ...localhost, ALPNProtocols: [wire.multiplexes ? 'h2' : 'http/1.1'] })
      : net.createServer({ allowHalfOpen: true })
    this.#server.on('connection', (tcp: net.Socket) => this.#onConnection(tcp))
    this.#server.on('secureConnection', (socket: tls.TLSSocket) => this.#onSocket(socket))
    this.#server.on('tlsClientError', (_error: Error, socket: net.Socket) => socket.destroy())
  }

  protected get url(): string {
    return `${this.#wire.secure ? 'https' : 'http'}://127.0.0.1:${this.#port}`
  }

  async run(): Promise<ChaosReport> {
    const server = this.#server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    const connected = channel('undici:client:connected')
    const note = (message: unknown): void => {
      this.#clientEnds.push((message as { socket: net.Socket }).socket)
    }
    connected.subscribe(note)
    try {
      return { ...(await this.rampage()), trace: 0 }
    } finally {
      connected.unsubscribe(note)
      const closed = new Promise((resolve) => server.close(resolve))
      for (const tcp of this.#tcp.values()) tcp.destroy()
      await closed
    }
  }

  #onConnection(tcp: net.Socket): void {
    this.connections++
    this.note('connection')
    if (!this.#accepts) {
      tcp.on('error', () => {}).destroy()
      return
    }
    const remotePort = tcp.remotePort!
    this.#tcp.set(remotePort, tcp)
    tcp.on('close', () => this.#tcp.delete(remotePort))
    if (!this.#wire.secure) this.#onSocket(tcp)
  }

  #onSocket(socket: net.Socket): void {
    const port = new SocketPort(socket, this.#tcp.get(socket.remotePort!))
    this.#ports.add(port)
    socket.on('close', () => {
      this.#ports.delete(port)
      this.note('closed')
    })
    socket.on('data', () => this.note('bytes'))
    this.origin.accept(port)
  }

  protected clientOptions(): ClientOptions {
    return { connect: { ca: authority }, useH2c: !this.#wire.secure && this.#wire.multiplexes }
  }

  protected deliver(): void {}

  /** Keeps the port, since another process might take it. Connections are refused meanwhile. */
  protected listen(on: boolean): void {
    this.#accepts = on
  }

  protected makeTrouble(what: Mischief): boolean {
    const ports = [...this.#ports]
    if (ports.length === 0) return false
    const port = this.random.pick(ports)
    const { socket } = port
    if (what === 'fin') port.end()
    else if (what === 'rst') port.reset()
    else if (what === 'restart') for (const each of ports) each.socket.destroy()
    else socket.pause()
    if (what === 'pause') globalThis.setTimeout(() => socket.resume(), this.pauseTime())
    return true
  }

  protected get openConnections(): number {
    let open = 0
    for (const { socket, isOpen } of this.#ports) if (isOpen && !socket.readableEnded) open++
    return open
  }

  protected recover(): void {
    for (const { socket } of this.#ports) socket.resume()
  }

  protected inspectConnections(): void {
    for (const [index, { destroyed }] of this.#clientEnds.entries()) {
      if (!destroyed) this.problems.push(`connection ${index} is left open`)
    }
  }
}
