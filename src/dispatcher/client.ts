/**
 * The public face of a client for one origin. What it does stands in client-session.ts.
 */
import { defineKind } from '../base/kind.ts'
import { parseOrigin } from '../base/origin.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { EndReason } from '../request/end-reason.ts'
import { ClientCommons } from './client-commons.ts'
import { type ClientOptions, readClientOptions } from './client-options.ts'
import { ClientSession } from './client-session.ts'
import { LifecycleDispatcher } from './lifecycle.ts'

/**
 * For the dispatchers that are made of clients: what is behind one, or null for anything else, such as a
 * composed view of a client. No member of the public class, so that nobody else comes to rely on it.
 */
export let sessionIn: (dispatcher: object) => ClientSession | null

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
    sessionIn = (dispatcher) => (#session in dispatcher ? dispatcher.#session : null)
  }

  /**
   * @param url Protocol, host name and port; nothing else.
   */
  constructor(url: string | URL | object, options: ClientOptions = {}) {
    if (options === null) throw new TypeError('options must not be null')
    const commons = options instanceof ClientCommons ? options : readCommons(url, options)
    super(commons.webSocket)
    this.#session = new ClientSession(this, commons)
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

/** For pools: a client that has these things in common with others. */
export function clientWith(commons: ClientCommons): Client {
  return new Client(commons.origin.url, commons as object)
}

function readCommons(url: string | URL | object, options: ClientOptions): ClientCommons {
  const settings = readClientOptions(options)
  const origin = parseOrigin(url)
  if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
  const webSocket = Object.hasOwn(options, 'webSocket') ? options.webSocket : null
  return new ClientCommons(origin, settings, webSocket ?? null)
}

/** The types under the names that programs written for undici use. */
export declare namespace Client {
  type Options = ClientOptions
  type H2Options = import('./http2-options.ts').Http2Options
  type SocketInfo = import('../errors.ts').SocketInfo
  type WebSocketOptions = import('./lifecycle.ts').WebSocketOptions
}
