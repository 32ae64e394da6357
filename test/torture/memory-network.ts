/**
 * A network in memory. Nothing moves by itself: each connect, each piece of data and each end of a connection waits in
 * a lane until `step()` delivers it, and the picker chooses the next lane. So one thing happens at a time, and the same
 * choices lead to the same order.
 *
 * A lane models the kernel's buffers and the wire: it keeps its order, accepts writes until it is full, and stops while
 * the reader does not read.
 */
import { Duplex } from 'node:stream'
import { type ConnectFunction, errors } from '../../src/index.ts'
import { connectionReset } from '../support/memory-socket.ts'
import type { OriginPort } from './origin-port.ts'

export type DeliveryKind = 'connect' | 'in' | 'out' | 'fin' | 'rst' | 'gone'

export interface Delivery {
  readonly kind: DeliveryKind
  readonly link: Link
  readonly bytes: Buffer | null
}

/** One direction of a connection. */
export class Lane {
  readonly waiting: Delivery[] = []
  /** The reader at its end does not read. */
  blocked = false
  bytes = 0

  get isReady(): boolean {
    const first = this.waiting[0]
    return first !== undefined && !(this.blocked && first.kind !== 'rst')
  }

  push(delivery: Delivery): void {
    this.waiting.push(delivery)
    this.bytes += delivery.bytes?.length ?? 0
  }

  shift(): Delivery {
    const delivery = this.waiting.shift()!
    this.bytes -= delivery.bytes?.length ?? 0
    return delivery
  }

  clear(): void {
    this.waiting.length = 0
    this.bytes = 0
  }
}

/** A connection, and the server's end of it. */
export class Link implements OriginPort {
  readonly number: number
  readonly client: ClientEnd
  readonly up: Lane = new Lane()
  readonly down: Lane = new Lane()
  /** The client has received its end. */
  isConnected = false
  /** Nothing arrives at either end any more, without notice. */
  stalled = false
  /** Called when there is room in the lane again. */
  drained: (() => void) | null = null
  onBytes: (bytes: Buffer) => void = () => {}
  onGone: () => void = () => {}
  #open = true

  constructor(number: number, alpnProtocol: string | null) {
    this.number = number
    this.client = new ClientEnd(this, alpnProtocol)
  }

  get isOpen(): boolean {
    return this.#open
  }

  send(bytes: Buffer): void {
    if (this.#open && bytes.length > 0) this.down.push({ kind: 'in', link: this, bytes })
  }

  end(): void {
    if (!this.#open) return
    this.#open = false
    this.down.push({ kind: 'fin', link: this, bytes: null })
  }

  reset(): void {
    this.#open = false
    this.down.clear()
    this.down.push({ kind: 'rst', link: this, bytes: null })
  }

  /** The server dies: data in flight is lost, and only the end of the connection arrives. */
  kill(how: 'fin' | 'rst'): void {
    this.#open = false
    this.onBytes = () => {}
    this.down.clear()
    this.down.push({ kind: how, link: this, bytes: null })
  }

  /** The client has closed its end. */
  abandon(): void {
    this.down.clear()
    this.up.push({ kind: 'gone', link: this, bytes: null })
  }

  carry(delivery: Delivery): void {
    const { client } = this
    switch (delivery.kind) {
      case 'in':
        if (!client.destroyed) this.down.blocked = !client.push(delivery.bytes)
        return
      case 'fin':
        if (!client.destroyed) client.push(null)
        return
      case 'rst':
        client.destroy(connectionReset())
        return
      case 'out':
        this.onBytes(delivery.bytes!)
        this.#makeRoom()
        return
      case 'gone':
        this.#open = false
        this.onGone()
    }
  }

  /** A delivery that does not arrive. The writer does not notice. */
  lose(delivery: Delivery): void {
    if (delivery.kind === 'out') this.#makeRoom()
  }

  #makeRoom(): void {
    if (this.up.bytes > 0) return
    const { drained } = this
    this.drained = null
    drained?.()
  }
}

/** The socket that a connector delivers. */
export class ClientEnd extends Duplex {
  readonly alpnProtocol: string | null
  readonly #link: Link

  constructor(link: Link, alpnProtocol: string | null) {
    super({ highWaterMark: STREAM_BUFFER_BYTES })
    this.#link = link
    this.alpnProtocol = alpnProtocol
  }

  override _read(): void {
    this.#link.down.blocked = false
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const { up } = this.#link
    up.push({ kind: 'out', link: this.#link, bytes: chunk })
    if (up.bytes < SEND_BUFFER_BYTES) done()
    else this.#link.drained = done
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'latin1', done)
  }

  override _final(done: () => void): void {
    this.#link.up.push({ kind: 'gone', link: this.#link, bytes: null })
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#link.abandon()
    done(error)
  }
}

/** Bytes that the kernel accepts before a writer has to wait: few, so that writers do wait. */
const SEND_BUFFER_BYTES = 2_048
const STREAM_BUFFER_BYTES = 4_096

/** The connector's limit. It counts as the caller's connector, so the client sets no limit itself. */
const CONNECT_TIMEOUT = 10_000

export class Network {
  readonly links: Link[] = []
  /** Whether connects are accepted. */
  listening = true
  /** Sees each delivery before it happens; true prevents it. */
  intercept: (delivery: Delivery) => boolean = () => false
  /** Sees each socket before the client does. */
  onSocket: (socket: Duplex) => void = () => {}
  /** Chooses among lanes that have something to deliver. */
  pick: (lanes: readonly Lane[]) => Lane = (lanes) => lanes[0]!
  readonly #accept: (link: Link) => void
  readonly #alpnProtocol: string | null
  #connects = 0

  constructor(alpnProtocol: string | null, accept: (link: Link) => void) {
    this.#alpnProtocol = alpnProtocol
    this.#accept = accept
  }

  readonly connector: ConnectFunction = (_options, callback) => {
    const link = new Link(this.#connects++, this.#alpnProtocol)
    this.links.push(link)
    this.onSocket(link.client)
    const timer = globalThis.setTimeout(() => {
      link.up.clear()
      callback(new errors.ConnectTimeoutError('Connect Timeout Error'))
    }, CONNECT_TIMEOUT)
    this.#answers.set(link, (error) => {
      globalThis.clearTimeout(timer)
      if (error === null) callback(null, link.client)
      else callback(error)
    })
    link.up.push({ kind: 'connect', link, bytes: null })
  }

  readonly #answers = new Map<Link, (error: Error | null) => void>()

  /** Something waits for delivery, even if its reader does not read now. */
  get isLoaded(): boolean {
    return this.links.some(({ up, down, stalled }) => !stalled && up.waiting.length + down.waiting.length > 0)
  }

  /** Makes one delivery; false if there is none. */
  step(): boolean {
    const lanes: Lane[] = []
    for (const { up, down, stalled } of this.links) {
      if (stalled) continue
      if (up.isReady) lanes.push(up)
      if (down.isReady) lanes.push(down)
    }
    if (lanes.length === 0) return false
    const lane = this.pick(lanes)
    const delivery = lane.shift()
    if (!this.intercept(delivery)) this.carry(delivery)
    return true
  }

  carry(delivery: Delivery): void {
    const { link } = delivery
    if (delivery.kind !== 'connect') link.carry(delivery)
    else if (this.listening) this.#connect(link)
    else this.refuse(link)
  }

  /** A connect that fails. */
  refuse(link: Link): void {
    this.#answers.get(link)!(connectionRefused())
  }

  #connect(link: Link): void {
    this.#accept(link)
    link.isConnected = true
    this.#answers.get(link)!(null)
  }

  /** Forgets ended connections, so that a long run does not iterate over all of them at each step. */
  prune(): void {
    const live = this.links.filter(({ client, up, down }) => {
      return !client.destroyed || up.waiting.length + down.waiting.length > 0
    })
    for (const link of this.links) if (!live.includes(link)) this.#answers.delete(link)
    this.links.splice(0, this.links.length, ...live)
  }
}

function connectionRefused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
}
