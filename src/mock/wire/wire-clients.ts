/**
 * Clients on in-memory connections: mocked replies go through the same engines as in production. Each client
 * carries one request at a time, so the server knows which one it answers.
 */

import { ignoreError } from '../../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { Client } from '../../dispatcher/client.ts'
import { ownConnector } from '../../dispatcher/client-connector.ts'
import type { ConnectFunction } from '../../dispatcher/client-options.ts'
import { portOf } from '../../guard/place.ts'
import { DecoratorHandler } from '../../handler/decorator-handler.ts'
import { timeoutError } from '../../net/connect-errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { Interception } from '../match/interception.ts'
import type { MockAgentSettings } from '../mock-agent-options.ts'
import type { MockCall } from '../mock-call.ts'
import { WireH2Socket } from './wire-h2-socket.ts'
import { systemError, WireSocket, type WireTurn } from './wire-socket.ts'
import type { WireProtocol } from './wire-step.ts'

/** Connections kept for `agent.wire`. */
const MOST_SHOWN = 100

/** A connection in memory, as `agent.wire` shows it. */
export interface WireConnection {
  /** The origin of the requests on it. */
  readonly origin: string
  /** Everything that the client has written so far. */
  readonly written: Buffer
}

/** A client, and the request that it carries. */
interface WireSlot {
  readonly origin: string
  readonly protocol: WireProtocol
  readonly client: Client
  /** Of the latest connection. */
  socket: WireSocket | null
  turn: WireTurn | null
  /** Of a `connect-timeout` fault. */
  timer: ReturnType<typeof setTimeout> | null
}

/** Tells the server when the request is written, and frees the client when it has ended. */
class WireHandler extends DecoratorHandler {
  readonly #onSent: () => void
  readonly #onSettled: () => void
  #controller: DispatchController | null = null

  constructor(handler: DispatchHandler, onSent: () => void, onSettled: () => void) {
    super(handler)
    this.#onSent = onSent
    this.#onSettled = onSettled
  }

  fail(error: unknown): void {
    this.#controller?.abort(error)
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller = controller
    super.onRequestStart(controller, context)
  }

  override onRequestSent(): void {
    super.onRequestSent()
    this.#onSent()
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#onSettled()
    super.onResponseEnd(controller, trailers)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#onSettled()
    super.onResponseError(controller, error)
  }

  override onRequestUpgrade(...args: Parameters<DecoratorHandler['onRequestUpgrade']>): void {
    this.#onSettled()
    super.onRequestUpgrade(...args)
  }
}

export class WireClients {
  readonly #settings: MockAgentSettings
  readonly #slots = new Set<WireSlot>()
  readonly #sockets: WireSocket[] = []

  constructor(settings: MockAgentSettings) {
    this.#settings = settings
  }

  /** Forgets the bytes so far. */
  clear(): void {
    this.#sockets.length = 0
  }

  /** The clients for these origins, which are the caller's to end. */
  release(origins: ReadonlySet<string>): Client[] {
    const released = [...this.#slots].filter(({ origin }) => origins.has(origin))
    for (const slot of released) this.#slots.delete(slot)
    return released.map(({ client }) => client)
  }

  get clients(): Client[] {
    return Array.from(this.#slots, ({ client }) => client)
  }

  get connections(): WireConnection[] {
    return this.#sockets.map(({ origin, written }) => ({ origin, written: Buffer.concat(written) }))
  }

  dispatch(call: MockCall, interception: Interception): boolean {
    const { kind } = interception.reply
    // Upgrades exist only in HTTP/1.1.
    const protocol = kind === 'upgrade' ? 'h1' : this.#settings.protocol
    // The fault needs a new connection.
    const isUnreachable = kind === 'unreachable'
    const isFree = (one: WireSlot): boolean =>
      one.origin === call.origin && one.protocol === protocol && one.turn === null
    const free = isUnreachable ? undefined : [...this.#slots].find(isFree)
    const slot = free ?? this.#addSlot(call.origin, protocol)
    const onSettled = (): void => {
      slot.turn = null
      if (slot.timer !== null) clearTimer(slot.timer)
      if (!isUnreachable) return
      this.#slots.delete(slot)
      slot.client.destroy().catch(ignoreError)
    }
    const handler = new WireHandler(call.handler, () => slot.socket?.onSent(), onSettled)
    slot.turn = { call, interception, fail: (error) => handler.fail(error) }
    slot.client.dispatch(call.options, handler)
    return true
  }

  #addSlot(origin: string, protocol: WireProtocol): WireSlot {
    const open: ConnectFunction = (_target, callback) => this.#connect(slot, callback)
    // As our own connector: errors are the same as on a real connection.
    const connect = ownConnector(open, open)
    const client = new Client(origin, { ...this.#settings.clientOptions, pipelining: 1, connect })
    const slot: WireSlot = { origin, protocol, client, socket: null, turn: null, timer: null }
    this.#slots.add(slot)
    return slot
  }

  #connect(slot: WireSlot, callback: Parameters<ConnectFunction>[1]): void {
    const reply = slot.turn?.interception.reply
    if (reply?.kind === 'unreachable') {
      const url = new URL(slot.origin)
      const goal = {
        hostname: url.hostname,
        port: portOf(url),
        timeout: this.#settings.client.connectTimeout,
      }
      if (reply.fault === 'connect-refused') {
        const error = systemError('ECONNREFUSED', `connect ECONNREFUSED ${goal.hostname}:${goal.port}`)
        queueMicrotask(() => callback(error, null))
      } else slot.timer = startTimer(() => callback(timeoutError(goal, []), null), goal.timeout)
      return
    }
    const Socket = slot.protocol === 'h2' ? WireH2Socket : WireSocket
    const socket = new Socket(slot.origin, () => slot.turn)
    slot.socket = socket
    this.#sockets.push(socket)
    if (this.#sockets.length > MOST_SHOWN) this.#sockets.shift()
    queueMicrotask(() => callback(null, socket))
  }
}
