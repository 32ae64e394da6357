/**
 * A run over real sockets on loopback, including TLS, through a relay that does the damage. The clock is fake here,
 * too: time passes only when nothing else has happened for a while.
 */
import { channel } from 'node:diagnostics_channel'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import { Client, type GuardOptions } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { turns } from '../support/fake-clock.ts'
import type { Wire } from '../support/wire.ts'
import type { Plan } from './fault.ts'
import { type PieceFate, Relay } from './relay.ts'
import { SocketPort } from './socket-port.ts'
import { CLIENT_OPTIONS, type Scenario, Stage } from './stage.ts'
import { TortureOrigin } from './torture-origin.ts'
import { Uncaught } from './uncaught.ts'

/**
 * Turns of the event loop without an event after which time may pass. All ends of all connections are in this process,
 * so written data can be read. If it cannot be read yet, a request times out and fails, which is a valid end, too.
 */
const QUIET_TURNS = 150

/** The relay is allowed, and nothing else. */
const GUARD: GuardOptions = {
  allow: ['127.0.0.1'],
  strict: true,
  check: ({ address }) => address === '127.0.0.1',
}

/** All scenarios run with the guard of the connector. */
const GUARDS_ALL = process.env['VENTUNO_TORTURE_GUARD'] === 'on'

/** A run without an event for this long never ends. */
const STUCK_TURNS = 100_000

/** The end of a connection may be in flight when the next request is written, which then fails. */
const PROBES = 3

/** Shared by the runs of one wire: a server that speaks it, and the relay in front. */
export class SocketOrigin {
  readonly wire: Wire
  readonly relay: Relay
  readonly #server: net.Server
  /** Including those without a completed TLS handshake. */
  readonly #connections = new Set<net.Socket>()
  /** The origin of the current run. */
  current: TortureOrigin | null = null

  private constructor(wire: Wire, server: net.Server, relay: Relay) {
    this.wire = wire
    this.relay = relay
    this.#server = server
    server.on('connection', (socket: net.Socket) => {
      this.#connections.add(socket)
      socket.on('close', () => this.#connections.delete(socket))
    })
    server.on(wire.secure ? 'secureConnection' : 'connection', (socket: net.Socket) => {
      this.current?.accept(new SocketPort(socket))
    })
    server.on('tlsClientError', () => {})
  }

  static async start(wire: Wire): Promise<SocketOrigin> {
    const server = wire.secure
      ? tls.createServer({ ...localhost, ALPNProtocols: [wire.multiplexes ? 'h2' : 'http/1.1'] })
      : net.createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const relay = new Relay((server.address() as AddressInfo).port)
    await relay.listen()
    return new SocketOrigin(wire, server, relay)
  }

  get url(): string {
    return `${this.wire.secure ? 'https' : 'http'}://127.0.0.1:${this.relay.port}`
  }

  /** Ends the remains of a run. */
  async clear(): Promise<void> {
    await this.relay.clear()
    for (const socket of this.#connections) socket.destroy()
  }

  async close(): Promise<void> {
    await this.relay.close()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#connections) socket.destroy()
    await closed
  }
}

export class SocketStage extends Stage {
  readonly dispatcher: Client
  readonly url: string
  readonly #origin: SocketOrigin
  /** The client's ends of its connections. */
  readonly #sockets: net.Socket[] = []

  constructor(scenario: Scenario, origin: SocketOrigin, plans: readonly Plan[]) {
    const protocol = origin.wire.multiplexes ? 'h2' : 'h1'
    super(scenario, protocol, plans, new TortureOrigin(protocol, 1))
    this.#origin = origin
    this.url = origin.url
    this.dispatcher = new Client(this.url, {
      ...CLIENT_OPTIONS,
      ...scenario.options,
      connect: { ca: authority, ...(scenario.guard || GUARDS_ALL ? { guard: GUARD } : null) },
      useH2c: !origin.wire.secure && origin.wire.multiplexes,
    })
    this.dispatcher.on('error', (error: unknown) => this.judge('error event', error))
    this.dispatcher.on('disconnect', (_origin, _targets, error: Error) => this.judge('disconnect', error))
  }

  async run(): Promise<string[]> {
    const uncaught = new Uncaught()
    const restore = this.clock.enable()
    const { relay } = this.#origin
    this.#origin.current = this.origin
    const connected = channel('undici:client:connected')
    const note = (message: unknown): void =>
      void this.#sockets.push((message as { socket: net.Socket }).socket)
    connected.subscribe(note)
    relay.judge = (direction, bytes) => this.#onPiece(direction, bytes)
    try {
      this.scenario.act(this)
      await this.#play()
      this.isPlayed = true
      await this.calm()
      await this.probe(PROBES)
      await this.close()
      await this.waitFor(() => this.#sockets.every(({ destroyed }) => destroyed))
      this.inspect()
    } catch (error) {
      this.problems.push(`the run broke: ${(error as Error).stack}`)
      await this.dispatcher.destroy().catch(() => {})
    } finally {
      restore()
      connected.unsubscribe(note)
      relay.judge = () => 'pass'
      await this.#origin.clear()
      for (const error of uncaught.stop()) {
        this.problems.push(`uncaught: ${(error as Error)?.stack ?? error}`)
      }
    }
    return this.problems
  }

  protected override inspect(): void {
    super.inspect()
    for (const [index, socket] of this.#sockets.entries()) {
      if (!socket.destroyed) this.problems.push(`connection ${index} is left open`)
    }
  }

  protected strike(fault: 'fin' | 'rst' | 'stall'): void {
    this.#origin.relay.strike(fault)
  }

  #onPiece(direction: 'in' | 'out', bytes: Buffer): PieceFate {
    const fault = this.number(direction, `${direction} ${bytes.length}`)
    switch (fault) {
      case null:
      case 'throw':
        return 'pass'
      case 'fin':
      case 'rst':
      case 'cut':
      case 'stall':
      case 'duplicate':
        return fault
      default:
        this.interfere(fault)
        return 'pass'
    }
  }

  /** Turns the event loop until a condition holds; returns true if nothing has happened for a while instead. */
  async #quietBefore(holds: () => boolean): Promise<boolean> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      if (holds()) return false
      const before = this.activity
      await turns(1)
      if (this.activity !== before) quiet = -1
    }
    return true
  }

  protected async waitFor(holds: () => boolean): Promise<void> {
    for (let quiet = 0; !holds() && quiet < STUCK_TURNS; quiet++) {
      const before = this.activity
      await turns(1)
      if (this.activity !== before) quiet = -1
    }
  }

  protected async calm(): Promise<void> {
    await this.#quietBefore(() => false)
  }

  async #play(): Promise<void> {
    let released = false
    for (let rounds = 0; await this.#quietBefore(() => this.isSettled); rounds++) {
      // Without a fault nothing times out: a slow machine only takes longer.
      if (this.done.length === 0 && rounds < STUCK_TURNS / QUIET_TURNS) continue
      if (this.nextTimer()) continue
      if (released) break
      released = true
      for (const call of this.calls) call.release()
    }
  }
}
