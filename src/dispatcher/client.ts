/**
 * The public face of a client for one origin. Its work is done in session/client-session.ts.
 */

import { inCall } from '../base/error/public-call.ts'
import { defineKind } from '../base/object/kind.ts'
import type { SocketInfo } from '../errors.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { EndReason } from '../request/end-reason.ts'
import { checkedOrigin } from './checked-origin.ts'
import { type ClientOptions, readClientOptions } from './client-options.ts'
import type { ConnectionSnapshot } from './connection-snapshot.ts'
import type { EventSourceOptions } from './event-source-options.ts'
import type { Http2Options } from './http2-options.ts'
import { LifecycleDispatcher, reportIdle } from './lifecycle.ts'
import { limitOf } from './places/limit-options.ts'
import { ClientEvents } from './session/client-events.ts'
import { ClientSession } from './session/client-session.ts'
import { OriginContext } from './session/origin-context.ts'
import type { SessionOwner } from './session/session-owner.ts'
import type { WebSocketOptions } from './websocket-options.ts'

/**
 * For pools: returns the session of a client, with another owner before the one that it has. Null for
 * anything but a client of this copy of the library, such as a composed view of one. Not a member of the
 * public class, so that no other code comes to rely on it.
 */
export let ownSession: (
  dispatcher: object,
  wrap?: (owner: SessionOwner) => SessionOwner,
) => ClientSession | null

/** For `H2CClient`: how many streams it has at a time, as long as the server has set no limit. */
export let limitStreams: (client: Client, streams: number) => void

/** A snapshot of what a client has to do. */
export interface ClientStats {
  /** A connection is up. */
  connected: boolean
  /** Accepted and not written yet. */
  pending: number
  /** Written and not answered. */
  running: number
  /** Pending and running. */
  size: number
}

/**
 * An HTTP client on a single connection, which it opens when there is something to send.
 *
 * @example
 * const client = new Client('http://localhost:3000')
 * const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
 * console.log(statusCode, await body.text())
 * await client.close()
 */
export class Client extends LifecycleDispatcher {
  readonly #session: ClientSession

  static {
    ownSession = (dispatcher, wrap) => {
      if (!(#session in dispatcher)) return null
      if (wrap) dispatcher.#session.wrapOwner(wrap)
      return dispatcher.#session
    }
    limitStreams = (client, streams) => {
      client.#session.maxConcurrentStreams = streams
    }
  }

  /**
   * @param url Protocol, host name and port; nothing else.
   */
  constructor(url: string | URL | object, options: ClientOptions = {}) {
    if (options === null) throw new TypeError('options must not be null')
    const context =
      options instanceof OriginContext ? options : inCall(Client, () => readContext(url, options))
    super(context.webSocket, context.eventSource)
    this.#session = new ClientSession(context, new ClientEvents(this, context.origin.url, reportIdle))
  }

  /** How many requests may be in flight on an HTTP/1.1 connection. Setting it takes effect at once. */
  get pipelining(): number {
    return this.#session.pipelining
  }

  set pipelining(value: number) {
    this.#session.pipelining = value
  }

  /** A snapshot of what there is to do. */
  get stats(): ClientStats {
    const { connected, pending, running } = this.#session
    return { connected, pending, running, size: pending + running }
  }

  /** @internal */
  override composedOrigin(): string {
    return this.#session.origin
  }

  override connections(): ConnectionSnapshot[] {
    return this.#session.connections
  }

  override retire(): void {
    this.#session.retireConnection()
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    return this.#session.accept(options, handler)
  }

  protected override get needsDrain(): boolean {
    return this.#session.needsDrain
  }

  protected override finish(done: () => void): void {
    this.#session.finish(done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#session.terminate(reason, done)
  }
}

defineKind(Client, 'ventuno.Client')

/** For pools: a client that shares its context with others. */
export function clientIn(context: OriginContext): Client {
  return new Client(context.origin.url, context as object)
}

function readContext(url: string | URL | object, options: ClientOptions): OriginContext {
  const settings = readClientOptions(options)
  const limits = Object.assign(Object.create(null), options)
  return new OriginContext(checkedOrigin(url), settings, limits, limitOf(options))
}

/** The types under the names that programs written for undici use. */
export declare namespace Client {
  export type {
    ClientOptions as Options,
    EventSourceOptions,
    Http2Options as H2Options,
    SocketInfo,
    WebSocketOptions,
  }
}
