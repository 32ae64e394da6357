/**
 * An origin that misbehaves at random: it answers late, early, in pieces or not at all, resets streams and connections,
 * and goes away gracefully or not. It records which requests it has processed, and never claims otherwise.
 */
import {
  MAX_STREAM_ID,
  NO_ERROR,
  REFUSED_STREAM,
  SETTINGS_MAX_CONCURRENT_STREAMS,
} from '../../src/protocol/http2/constants.ts'
import { Http1Origin } from '../torture/http1-origin.ts'
import { Http2Origin, Http2OriginStream } from '../torture/http2-origin.ts'
import type { OriginExchange, OriginPort } from '../torture/origin-port.ts'
import type { Protocol } from '../torture/torture-origin.ts'
import type { Random } from './random.ts'
import { answerTo, idIn, trailersOf, uploadOf } from './traffic.ts'
import { CONTENT_METHODS } from './upload.ts'

/** Schedules the delayed actions of the origin. */
export interface OriginSchedule {
  soon(task: () => void): void
  after(milliseconds: number, task: () => void): void
}

const COMMON = {
  answer: 40,
  pieces: 14,
  slow: 10,
  interim: 8,
  early: 8,
  last: 4,
  silent: 2,
  half: 2,
  truncate: 3,
  'truncate with RST': 3,
  FIN: 2,
  RST: 2,
  garbage: 2,
} as const

const HTTP2 = {
  ...COMMON,
  RST_STREAM: 8,
  'RST_STREAM after the head': 4,
  REFUSED_STREAM: 5,
  GOAWAY: 2,
  'abrupt GOAWAY': 2,
  death: 2,
} as const

type Behaviour = keyof typeof HTTP2

/** RFC 9113 §7, and an undefined one. */
const RESET_CODES = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 99]

export class ChaosOrigin {
  /** How often each request was processed. */
  readonly processed: Map<number, number> = new Map()
  /** Requests that a client may repeat automatically. */
  readonly idempotent: Set<number> = new Set()
  /** Those on connections that ended with an error over HTTP/2: they may be repeated once. */
  readonly suspected: Set<number> = new Set()
  readonly violations: string[] = []
  /** Actions other than answers. */
  readonly faults: Map<string, number> = new Map()
  /** From now on it behaves. */
  behaves = false
  readonly #protocol: Protocol
  readonly #random: Random
  readonly #schedule: OriginSchedule
  /** Maximum delay of slow answers: some exceed the client's timeout. */
  readonly #patience: number

  constructor(protocol: Protocol, random: Random, schedule: OriginSchedule, patience: number) {
    this.#protocol = protocol
    this.#random = random
    this.#schedule = schedule
    this.#patience = patience
  }

  accept(port: OriginPort): void {
    const slice = (bytes: Buffer): Buffer[] => this.#slice(bytes)
    if (this.#protocol === 'h1') {
      new Http1Origin(port, (exchange) => this.#onRequest(exchange, port, null), slice)
      return
    }
    const origin: Http2Origin = new Http2Origin(
      port,
      (exchange) => {
        const open = [...origin.streams.values()].filter((stream) => stream.isOpen)
        if (open.length <= limit) this.#onRequest(exchange, port, origin)
        else this.#stream(exchange).reset(REFUSED_STREAM)
      },
      slice,
    )
    // Some allow few streams, which the client learns only after its first ones.
    const limit = this.#random.oneIn(2) ? this.#random.between(1, 4) : Number.POSITIVE_INFINITY
    if (Number.isFinite(limit)) origin.settings([[SETTINGS_MAX_CONCURRENT_STREAMS, limit]])
  }

  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1)
  }

  /** Data that is sent together does not have to arrive together. */
  #slice(bytes: Buffer): Buffer[] {
    const random = this.#random
    if (this.behaves || !random.oneIn(3)) return [bytes]
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const size = random.oneIn(20) ? 1 : random.between(1, Math.max(1, bytes.length >> 1))
      pieces.push(bytes.subarray(at, at + size))
      at += size
    }
    return pieces
  }

  #onRequest(exchange: OriginExchange, port: OriginPort, connection: Http2Origin | null): void {
    const behaviour: Behaviour = this.behaves
      ? 'answer'
      : connection === null
        ? this.#random.weighted(COMMON)
        : this.#random.weighted(HTTP2)
    if (behaviour === 'REFUSED_STREAM') {
      this.count(behaviour)
      this.#stream(exchange).reset(REFUSED_STREAM)
      return
    }
    // A GOAWAY that excludes a stream may be sent between its arrival and its processing.
    if (connection !== null && !this.behaves && this.#random.oneIn(2)) {
      this.#schedule.soon(() => {
        if (this.#stream(exchange).id <= connection.lastStreamId)
          this.#begin(exchange, behaviour, port, connection)
      })
    } else {
      this.#begin(exchange, behaviour, port, connection)
    }
  }

  #begin(
    exchange: OriginExchange,
    behaviour: Behaviour,
    port: OriginPort,
    connection: Http2Origin | null,
  ): void {
    if (!exchange.isOpen) return
    const id = idIn(exchange.path)
    this.processed.set(id, (this.processed.get(id) ?? 0) + 1)
    if (exchange.method === 'GET') this.idempotent.add(id)
    if (connection !== null) {
      this.#begun.set(connection, Math.max(this.#begun.get(connection) ?? 0, this.#stream(exchange).id))
    }
    if (behaviour === 'early') {
      // Over HTTP/2 the rest of an upload that is not given up arrives all the same.
      if (!exchange.isComplete && connection !== null) exchange.onComplete = () => this.#checkUpload(exchange)
      this.#answer(exchange, 'answer', port, connection)
      return
    }
    const whole = (): void => {
      this.#checkUpload(exchange)
      const { 'x-request': trailer } = exchange.trailers
      const isAnnounced = exchange.headers['trailer'] !== undefined
      if (trailer === undefined ? isAnnounced : trailer !== trailersOf(id)['x-request']) {
        this.violations.push(`the trailers of request ${id} have not come as they were sent`)
      }
      this.#answer(exchange, behaviour, port, connection)
    }
    if (exchange.isComplete) whole()
    else exchange.onComplete = whole
  }

  #checkUpload(exchange: OriginExchange): void {
    const id = idIn(exchange.path)
    const upload = CONTENT_METHODS.includes(exchange.method) ? uploadOf(id) : ''
    if (Buffer.concat(exchange.received).toString('latin1') !== upload) {
      this.violations.push(`the body of request ${id} has not come as it was sent`)
    }
  }

  /** The highest processed stream of each connection. */
  readonly #begun = new WeakMap<Http2Origin, number>()

  #answer(
    exchange: OriginExchange,
    behaviour: Behaviour,
    port: OriginPort,
    connection: Http2Origin | null,
  ): void {
    const id = idIn(exchange.path)
    const random = this.#random
    const body = answerTo(id)
    if (!['answer', 'pieces', 'slow', 'interim', 'early', 'last'].includes(behaviour)) this.count(behaviour)
    switch (behaviour) {
      case 'answer':
      case 'early':
        exchange.respond(200, body)
        return
      case 'pieces':
        this.#inPieces(exchange, body)
        return
      case 'slow':
        this.#schedule.after(random.below(this.#patience), () => exchange.respond(200, body))
        return
      case 'interim':
        for (let left = random.between(1, 3); left > 0; left--) exchange.interim(random.pick([102, 103]))
        exchange.respond(200, body)
        return
      case 'last':
        exchange.head(200, { 'content-length': String(body.length), connection: 'close' })
        exchange.write(body)
        exchange.end()
        return
      case 'silent':
        return
      case 'half':
        this.#half(exchange, body)
        return
      case 'truncate':
        this.#half(exchange, body)
        port.end()
        return
      case 'truncate with RST':
        this.#half(exchange, body)
        this.#schedule.soon(() => port.reset())
        return
      case 'FIN':
        port.end()
        return
      case 'RST':
        port.reset()
        return
      case 'garbage':
        port.send(Buffer.from(Array.from({ length: random.between(1, 40) }, () => random.below(256))))
        if (random.oneIn(2)) port.end()
        return
      case 'RST_STREAM after the head':
        this.#half(exchange, body)
        this.#stream(exchange).reset(random.pick(RESET_CODES))
        return
      case 'RST_STREAM':
        this.#stream(exchange).reset(random.pick(RESET_CODES))
        return
      case 'GOAWAY':
        this.#leave(connection!, exchange, body)
        return
      case 'abrupt GOAWAY':
        this.#err(connection!, random.pick(RESET_CODES))
        if (random.oneIn(2)) port.end()
        return
      case 'death':
        for (const stream of connection!.streams.values()) if (stream.isOpen) stream.reset(NO_ERROR)
        port.end()
    }
  }

  #err(connection: Http2Origin, code: number): void {
    // Those that have arrived may still be processed.
    for (const { method, path } of connection.streams.values()) {
      if (code !== NO_ERROR && method === 'GET') this.suspected.add(idIn(path))
    }
    connection.goaway(this.#lastTaken(connection), code)
  }

  #inPieces(exchange: OriginExchange, body: string): void {
    const random = this.#random
    const framed = random.oneIn(2)
    // Chosen by the request, so that it takes nothing from the seed.
    const inSingles = idIn(exchange.path) % 4 === 0
    exchange.head(200, framed ? { 'content-length': String(body.length) } : {})
    let at = 0
    const more = (): void => {
      if (!exchange.isOpen) return
      if (at < body.length) {
        const size = random.between(1, body.length)
        const piece = body.slice(at, at + size)
        if (inSingles) exchange.writeSingles(piece)
        else exchange.write(piece)
        at += size
        this.#schedule.soon(more)
      } else {
        exchange.end(framed || random.oneIn(2) ? {} : { 'x-sum': String(body.length) })
      }
    }
    more()
  }

  #half(exchange: OriginExchange, body: string): void {
    exchange.head(200, this.#random.oneIn(2) ? { 'content-length': String(body.length + 1) } : {})
    exchange.write(body.slice(0, body.length >> 1))
  }

  /** RFC 9113 §6.8: first a warning, then the last processed stream, then the end. */
  #leave(connection: Http2Origin, exchange: OriginExchange, body: string): void {
    connection.goaway(MAX_STREAM_ID, NO_ERROR)
    this.#schedule.soon(() => {
      connection.goaway(this.#lastTaken(connection), NO_ERROR)
      exchange.respond(200, body)
      this.#schedule.after(this.#patience, () => connection.port.end())
    })
  }

  /** Somewhere between the last processed stream and the last one that arrived. */
  #lastTaken(connection: Http2Origin): number {
    const begun = this.#begun.get(connection) ?? 0
    return this.#random.oneIn(2)
      ? begun
      : Math.max(begun, Math.min(connection.highestStreamId, connection.lastStreamId))
  }

  #stream(exchange: OriginExchange): Http2OriginStream {
    if (exchange instanceof Http2OriginStream) return exchange
    throw new Error('only over HTTP/2')
  }
}
