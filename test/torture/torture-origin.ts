/** The origin of the torture scenarios: the path of a request selects its behaviour. */
import { createHash } from 'node:crypto'
import {
  ENHANCE_YOUR_CALM,
  NO_ERROR,
  REFUSED_STREAM,
  SETTINGS_INITIAL_WINDOW_SIZE,
} from '../../src/protocol/http2/constants.ts'
import { ACCEPT_SUFFIX } from '../../src/protocol/websocket/handshake.ts'
import { Http1Origin } from './http1-origin.ts'
import { Http2Origin, Http2OriginStream } from './http2-origin.ts'
import type { OriginExchange, OriginPort } from './origin-port.ts'

export type Protocol = 'h1' | 'h2'

/** Longer than one frame's worth of a reader's buffer, so that it matters whether the body is read. */
export const STREAMED_PIECES: readonly string[] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(2_000))

/** Sent byte by byte: more pieces than are kept one by one. */
export const SINGLES: string = 'single bytes in a row'

/** Smaller than the posted bodies, so that it matters whether the windows are opened again. */
const UPLOAD_WINDOW = 8_192

/** Between the bytes of a body that trickles: shorter than all time limits, so that none of them ends it. */
const TRICKLE_MS = 300

/** The bytes of such a body: far more than anybody reads away. */
const TRICKLE_BYTES = 40

const CLOSE = 0x88
const TEXT = 0x81

export class TortureOrigin {
  /** Each request, once for each time it arrived. */
  readonly seen: string[] = []
  /** The bodies that trickled to their last byte: their client has not given them up. */
  readonly trickled: string[] = []
  readonly #protocol: Protocol
  readonly #pieces: number
  #refused = 0
  #erred = 0
  #unavailable = 0
  #trickling = 0
  readonly #onQuiet: (() => void)[] = []
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()

  /** `pieces`: the number of pieces in which one write arrives. */
  constructor(protocol: Protocol, pieces: number) {
    this.#protocol = protocol
    this.#pieces = pieces
  }

  /** Resolves when no body trickles, or no longer does. */
  quiet(): Promise<void> {
    if (this.#trickling === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#onQuiet.push(resolve))
  }

  /** The run is over: what trickles has arrived behind the end of its call. */
  stop(): void {
    for (const timer of this.#timers) globalThis.clearTimeout(timer)
  }

  /** One byte after the other, and no end. */
  #trickle(exchange: OriginExchange, left: number = TRICKLE_BYTES): void {
    if (left === TRICKLE_BYTES) this.#trickling++
    if (exchange.isOpen && left > 0) {
      exchange.write('.')
      const timer = globalThis.setTimeout(() => {
        this.#timers.delete(timer)
        this.#trickle(exchange, left - 1)
      }, TRICKLE_MS)
      this.#timers.add(timer)
      return
    }
    if (left === 0) this.trickled.push(exchange.path)
    if (--this.#trickling === 0) for (const resolve of this.#onQuiet.splice(0)) resolve()
  }

  accept(port: OriginPort): void {
    const slice = (bytes: Buffer): Buffer[] => sliced(bytes, this.#pieces)
    if (this.#protocol === 'h1') {
      new Http1Origin(port, (exchange) => this.#answer(exchange, port), slice)
      return
    }
    const origin: Http2Origin = new Http2Origin(
      port,
      (exchange) => {
        if (exchange.path === '/goaway') origin.goaway(origin.highestStreamId, NO_ERROR)
        if (exchange.path === '/goaway-error' && this.#erred++ === 0) {
          origin.goaway(origin.highestStreamId, ENHANCE_YOUR_CALM)
        }
        this.#answer(exchange, port)
      },
      slice,
    )
    origin.settings([[SETTINGS_INITIAL_WINDOW_SIZE, UPLOAD_WINDOW]])
  }

  #answer(exchange: OriginExchange, port: OriginPort): void {
    const { method, path } = exchange
    this.seen.push(`${method} ${path}`)
    if (method === 'CONNECT' && exchange.headers[':protocol'] === undefined) {
      exchange.grant()
      echo(exchange)
      return
    }
    const [kind] = path.slice(1).split('?') as [string]
    switch (kind) {
      case 'streamed':
        exchange.interim(103)
        exchange.head(200, { 'x-kind': 'streamed' })
        for (const piece of STREAMED_PIECES) exchange.write(piece)
        exchange.end({ 'x-trailer': 'yes' })
        return
      case 'singles':
        exchange.head(200)
        exchange.writeSingles(SINGLES)
        exchange.end({ 'x-trailer': 'yes' })
        return
      case 'echo':
        if (exchange.headers['expect'] !== undefined) exchange.interim(100)
        exchange.onComplete = () => exchange.respond(200, Buffer.concat(exchange.received))
        return
      case 'echo-unasked':
        exchange.onComplete = () => exchange.respond(200, Buffer.concat(exchange.received))
        return
      case 'echo-at-once':
        exchange.head(200)
        echo(exchange)
        return
      case 'echo-asked-twice':
        exchange.interim(100)
        exchange.interim(102)
        exchange.interim(100)
        exchange.onComplete = () => exchange.respond(200, Buffer.concat(exchange.received))
        return
      case 'refuse':
        exchange.respond(417, path)
        return
      case 'moved':
        exchange.onComplete = () => {
          exchange.head(307, { location: '/echo?moved' })
          exchange.write(path)
          exchange.end()
        }
        return
      case 'trailers':
        exchange.onComplete = () => {
          const trailers = Buffer.from(JSON.stringify(exchange.trailers))
          exchange.respond(200, Buffer.concat([...exchange.received, trailers]))
        }
        return
      case 'until-close':
        exchange.head(200, { connection: 'close' })
        exchange.write('until the end')
        exchange.end()
        return
      case 'refuse-once':
        if (exchange instanceof Http2OriginStream && this.#refused++ === 0) exchange.reset(REFUSED_STREAM)
        else exchange.respond(200, path)
        return
      case 'silent':
        return
      case 'half':
        exchange.head(200, { 'content-length': '10' })
        exchange.write('half')
        return
      case 'trickle':
        exchange.head(200)
        this.#trickle(exchange)
        return
      case 'trickle-moved':
        exchange.head(307, { location: '/there' })
        this.#trickle(exchange)
        return
      case 'trickle-unavailable':
        if (this.#unavailable++ > 0) {
          exchange.respond(200, path)
          return
        }
        exchange.head(503)
        this.#trickle(exchange)
        return
      case 'tunnel':
        exchange.grant()
        echo(exchange)
        return
      case 'websocket':
        exchange.grant(acceptField(exchange))
        speakWebSocket(exchange, port)
        return
      default:
        exchange.respond(200, path)
    }
  }
}

/** Shorter frames are delivered only when they are complete. */
const SHORTEST_CUT = 16

function sliced(bytes: Buffer, pieces: number): Buffer[] {
  if (pieces <= 2 && bytes.length < SHORTEST_CUT) return [bytes]
  const size = Math.max(1, Math.ceil(bytes.length / pieces))
  const all: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) all.push(bytes.subarray(at, at + size))
  return all
}

function echo(exchange: OriginExchange): void {
  exchange.onBody = (bytes) => exchange.write(bytes)
  exchange.onComplete = () => exchange.end()
}

function acceptField({ headers }: OriginExchange): Record<string, string> {
  const key = headers['sec-websocket-key']
  if (key === undefined) return {}
  const digest = createHash('sha1').update(key + ACCEPT_SUFFIX)
  return { 'sec-websocket-accept': digest.digest('base64') }
}

/** Echoes each short frame, and ends after a close frame. */
function speakWebSocket(exchange: OriginExchange, port: OriginPort): void {
  let input = Buffer.alloc(0)
  exchange.onComplete = () => exchange.end()
  exchange.onBody = (bytes) => {
    input = Buffer.concat([input, bytes])
    while (input.length >= 6 && input.length >= 6 + (input[1]! & 0x7f)) {
      const length = input[1]! & 0x7f
      const payload = Buffer.from(input.subarray(6, 6 + length))
      for (let i = 0; i < length; i++) payload[i]! ^= input[2 + (i % 4)]!
      const opcode = input[0]!
      input = input.subarray(6 + length)
      if (!port.isOpen) return
      exchange.write(Buffer.concat([Buffer.from([opcode === CLOSE ? CLOSE : TEXT, length]), payload]))
      if (opcode === CLOSE) exchange.end()
    }
  }
}
