/**
 * A TCP server that sends exactly the bytes a test wants and sees exactly the bytes a client sent. Every wait is for an
 * action of the client, never for time.
 */
import net from 'node:net'
import type { TestContext } from 'node:test'

export class ScriptedConnection {
  readonly socket: net.Socket
  #received = ''
  #ended = false
  #waiting: (() => void)[] = []

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#wake()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake()
    }
    socket.on('end', end).on('close', end).on('error', end)
  }

  /** Everything received so far, latin1. */
  get received(): string {
    return this.#received
  }

  /** Waits until the received bytes contain the text, and takes everything up to and including it. */
  async until(text: string): Promise<string> {
    for (;;) {
      const at = this.#received.indexOf(text)
      if (at !== -1) {
        const taken = this.#received.slice(0, at + text.length)
        this.#received = this.#received.slice(at + text.length)
        return taken
      }
      if (this.#ended) throw new Error(`the client closed; received: ${JSON.stringify(this.#received)}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Waits for a complete request head. */
  head(): Promise<string> {
    return this.until('\r\n\r\n')
  }

  /** Waits until the client has closed its side. */
  async closed(): Promise<void> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  send(...parts: string[]): this {
    this.socket.write(parts.join(''), 'latin1')
    return this
  }

  end(...parts: string[]): this {
    this.socket.end(parts.join(''), 'latin1')
    return this
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

export interface ScriptedServer {
  readonly url: string
  readonly port: number
  /** The next connection a client opens. */
  accept(): Promise<ScriptedConnection>
  /** Connections accepted so far. */
  readonly count: number
}

export async function startScriptedServer(t: TestContext): Promise<ScriptedServer> {
  const ready: ScriptedConnection[] = []
  const waiting: ((connection: ScriptedConnection) => void)[] = []
  const sockets: net.Socket[] = []
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    const connection = new ScriptedConnection(socket)
    const next = waiting.shift()
    if (next === undefined) ready.push(connection)
    else next(connection)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    accept: () => {
      const connection = ready.shift()
      return connection ? Promise.resolve(connection) : new Promise((resolve) => waiting.push(resolve))
    },
    get count() {
      return sockets.length
    },
  }
}
