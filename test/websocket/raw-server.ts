/**
 * A WebSocket server that answers the handshake as a test wants and then sends exactly its bytes. It reads the frames of
 * the client; every wait is for an action of the client.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { Client, type ClientOptions } from '../../src/index.ts'
import type { CloseEvent } from '../../src/web/events.ts'
import { WebSocket, type WebSocketInit } from '../../src/websocket/websocket.ts'

const SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export interface ClientFrame {
  readonly fin: boolean
  readonly rsv: number
  readonly opcode: number
  readonly masked: boolean
  readonly payload: Buffer
}

/** One connection after its handshake. */
export class RawPeer {
  readonly socket: Duplex
  /** Whether it ends its side when the client does. */
  closes = true
  #input: Buffer
  readonly #frames: ClientFrame[] = []
  #ended = false
  #waiting: (() => void)[] = []

  constructor(socket: Duplex, head: Buffer = Buffer.alloc(0)) {
    this.socket = socket
    this.#input = head
    socket.on('data', (bytes: Buffer) => {
      this.#input = Buffer.concat([this.#input, bytes])
      this.#read()
      this.#wake()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake()
      if (this.closes) socket.end()
    }
    socket.on('end', end).on('close', end).on('error', end)
  }

  send(...parts: Uint8Array[]): this {
    this.socket.write(Buffer.concat(parts))
    return this
  }

  /** The next frame; null if the client has ended its side. */
  async frame(): Promise<ClientFrame | null> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) return frame
      if (this.#ended) return null
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** `opcode payload` of a close frame: its code and reason. */
  async closeFrame(): Promise<string> {
    for (;;) {
      const frame = await this.frame()
      if (frame === null) return 'none'
      if (frame.opcode !== 8) continue
      const { payload } = frame
      return payload.length === 0 ? 'empty' : `${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`
    }
  }

  async ended(): Promise<void> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #read(): void {
    for (;;) {
      const input = this.#input
      if (input.length < 2) return
      const short = input[1]! & 0x7f
      const extended = short < 126 ? 0 : short === 126 ? 2 : 8
      const masked = (input[1]! & 0x80) !== 0
      const start = 2 + extended + (masked ? 4 : 0)
      if (input.length < start) return
      const length =
        extended === 0 ? short : extended === 2 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2))
      if (input.length < start + length) return
      const payload = Buffer.from(input.subarray(start, start + length))
      if (masked) for (let i = 0; i < length; i++) payload[i]! ^= input[start - 4 + (i % 4)]!
      this.#frames.push({
        fin: (input[0]! & 0x80) !== 0,
        rsv: (input[0]! >> 4) & 7,
        opcode: input[0]! & 15,
        masked,
        payload,
      })
      this.#input = input.subarray(start + length)
    }
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

export interface RawServerOptions {
  /** Fields of the 101 in addition to, or instead of, the correct ones; null omits one. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** The whole response, instead of a 101. */
  readonly answer?: (request: http.IncomingMessage, accept: string) => string | null
  readonly client?: ClientOptions
}

export interface RawServer {
  readonly port: number
  readonly client: Client
  /** Every received handshake. */
  readonly requests: http.IncomingMessage[]
  accept(): Promise<RawPeer>
  open(init?: WebSocketInit, path?: string): WebSocket
  /** A WebSocket that is open, and its peer. */
  pair(init?: WebSocketInit): Promise<[WebSocket, RawPeer]>
}

export async function startRawServer(t: TestContext, options: RawServerOptions = {}): Promise<RawServer> {
  const ready: RawPeer[] = []
  const waiting: ((peer: RawPeer) => void)[] = []
  const requests: http.IncomingMessage[] = []
  const sockets = new Set<Duplex>()
  const server = http.createServer()
  server.on('upgrade', (request, socket, head) => {
    requests.push(request)
    sockets.add(socket)
    socket.on('error', () => {})
    const key = String(request.headers['sec-websocket-key'])
    const accept = createHash('sha1')
      .update(key + SUFFIX)
      .digest('base64')
    const answer = options.answer?.(request, accept)
    if (answer !== undefined && answer !== null) {
      socket.write(answer, 'latin1')
      socket.resume()
      return
    }
    if (answer === null) return
    const fields = {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': accept,
      ...options.headers,
    }
    const lines = Object.entries(fields).filter(([, value]) => value !== null)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`,
    )
    const peer = new RawPeer(socket, head)
    const next = waiting.shift()
    if (next === undefined) ready.push(peer)
    else next(peer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = new Client(`http://127.0.0.1:${port}`, options.client)
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const accept = (): Promise<RawPeer> => {
    const peer = ready.shift()
    return peer ? Promise.resolve(peer) : new Promise((resolve) => waiting.push(resolve))
  }
  const open = (init: WebSocketInit = {}, path = '/'): WebSocket =>
    new WebSocket(`ws://127.0.0.1:${port}${path}`, { dispatcher: client, ...init })
  return {
    port,
    client,
    requests,
    accept,
    open,
    pair: async (init) => {
      const socket = open(init)
      socket.binaryType = 'arraybuffer'
      await opened(socket)
      return [socket, await accept()]
    },
  }
}

export async function opened(socket: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('close', () => reject(new Error('closed before it was open')), { once: true })
  })
}

export function closed(socket: WebSocket): Promise<CloseEvent> {
  return new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }))
}

/** The data of this many messages. */
export function messages(socket: WebSocket, count: number): Promise<unknown[]> {
  return new Promise((resolve) => {
    const all: unknown[] = []
    socket.addEventListener('message', ({ data }) => {
      all.push(data)
      if (all.length === count) resolve(all)
    })
  })
}

/** Names of the events in order: `open`, `message hi`, `error <class> <message>`, `close 1000 bye clean`. */
export function record(socket: WebSocket): string[] {
  const events: string[] = []
  socket.addEventListener('open', () => void events.push('open'))
  socket.addEventListener('message', ({ data }) => void events.push(`message ${data}`))
  socket.addEventListener('error', ({ error, message }) => {
    events.push(`error ${(error as Error).name} ${message}`)
  })
  socket.addEventListener('close', ({ code, reason, wasClean }) => {
    events.push(`close ${code} ${reason} ${wasClean ? 'clean' : 'unclean'}`)
  })
  return events
}
