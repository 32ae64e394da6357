/**
 * A relay between a client and an origin on real sockets that passes on or damages each piece, as its decider chooses.
 * When one side closes, it closes the other.
 */
import net from 'node:net'
import { resetConnection } from './socket-port.ts'

/** The treatment of a piece: `pass` it on, or damage it. */
export type PieceFate = 'pass' | 'cut' | 'duplicate' | 'fin' | 'rst' | 'stall'

/** One connection through the relay. */
class Passage {
  readonly client: net.Socket
  readonly origin: net.Socket
  stalled = false

  constructor(
    client: net.Socket,
    origin: net.Socket,
    judge: (direction: 'in' | 'out', bytes: Buffer) => PieceFate,
  ) {
    this.client = client
    this.origin = origin
    for (const socket of [client, origin]) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    client.on('data', (bytes: Buffer) => this.#pass(judge('out', bytes), bytes, origin))
    origin.on('data', (bytes: Buffer) => this.#pass(judge('in', bytes), bytes, client))
    client.on('close', () => origin.destroy())
    origin.on('close', () => {
      if (!this.stalled) client.end()
    })
    client.on('end', () => {
      if (this.stalled) client.destroy()
      else origin.end()
    })
    origin.on('end', () => {
      if (!this.stalled) client.end()
    })
  }

  kill(how: 'fin' | 'rst'): void {
    if (how === 'rst') resetConnection(this.client)
    else this.client.end()
    this.origin.destroy()
  }

  #pass(fate: PieceFate, bytes: Buffer, to: net.Socket): void {
    if (this.stalled) return
    if (fate === 'stall') this.stalled = true
    if (fate === 'fin' || fate === 'rst') this.kill(fate)
    if (fate === 'cut') to.write(bytes.subarray(0, bytes.length >> 1), () => this.kill('fin'))
    if (fate === 'pass' || fate === 'duplicate') to.write(bytes)
    if (fate === 'duplicate') to.write(bytes)
  }
}

export class Relay {
  readonly #server: net.Server
  readonly #passages = new Set<Passage>()
  /** Decides about each piece. */
  judge: (direction: 'in' | 'out', bytes: Buffer) => PieceFate = () => 'pass'

  constructor(originPort: number) {
    this.#server = net.createServer({ allowHalfOpen: true }, (client) => {
      const origin = net.connect({ port: originPort, host: '127.0.0.1', allowHalfOpen: true })
      const passage = new Passage(client, origin, (direction, bytes) => this.judge(direction, bytes))
      this.#passages.add(passage)
      client.on('close', () => this.#passages.delete(passage))
    })
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  /** Applies it to the newest connection. */
  strike(how: 'fin' | 'rst' | 'stall'): void {
    const newest = [...this.#passages].at(-1)
    if (newest === undefined) return
    if (how === 'stall') newest.stalled = true
    else newest.kill(how)
  }

  /** Ends all connections and waits until they are closed. */
  async clear(): Promise<void> {
    await Promise.all(
      [...this.#passages].map(({ client, origin }) => {
        origin.destroy()
        return client.destroyed ? null : new Promise((resolve) => client.once('close', resolve).destroy())
      }),
    )
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    await this.clear()
    await closed
  }
}
