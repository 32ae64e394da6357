/**
 * Requests to any origin: one dispatcher for each, made when it is first asked for and forgotten when it has
 * neither connections nor work, so that talking to many origins leaves nothing in memory.
 */

import { inCall } from '../base/error/public-call.ts'
import { withoutRejection } from '../base/loop/stray-promise.ts'
import { defineKind } from '../base/object/kind.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { InvalidArgumentError, MaxOriginsReachedError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { optionsFor } from '../handler/legacy-handler.ts'
import { type Option, option, ownOptions, readOptions } from '../options.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { EndReason } from '../request/end-reason.ts'
import { replacedName } from '../request/logical-origin.ts'
import { checkedOrigin } from './checked-origin.ts'
import { Client, type ClientStats } from './client.ts'
import { shareConnector } from './client-connector.ts'
import { CONNECT, type ConnectFunction, readClientOptions } from './client-options.ts'
import { type ConnectionSnapshot, connectionsOfAll } from './connection-snapshot.ts'
import type { Dispatcher } from './dispatcher.ts'
import { closeAll, destroyAll, retireAll } from './end-all.ts'
import { LifecycleDispatcher, takesNoMore, whenIdle } from './lifecycle.ts'
import type { ConnectionLimit } from './places/connection-limit.ts'
import {
  type ConnectionLimitOptions,
  limited,
  limitOf,
  readConnectionLimit,
  withoutLimits,
} from './places/limit-options.ts'
import { FACTORY, type PoolOptions, readPoolOptions } from './pool/options.ts'
import { Pool } from './pool/pool.ts'
import { reemit } from './reemit.ts'
import { isIdle, type PoolStats, statsOf } from './stats.ts'

interface DispatcherMaker {
  make(origin: string | URL, options: Omit<AgentOptions, 'factory'>): Dispatcher
}

/**
 * Makes the dispatcher for an origin, which is as the request gave it; gets the agent's own options. The type
 * of a method, so that the options of a pool are also those of an agent.
 */
export type AgentFactory = DispatcherMaker['make']

/** Takes a request before the agent does; null leaves it to the agent. */
export type AgentMock = (options: AgentDispatchOptions, handler: DispatchHandler) => boolean | null

/**
 * For mock agents: requests on the agent that they send through are mocked, too. No effect on other
 * dispatchers.
 */
export let mockAgentRequests: (agent: object, mock: AgentMock) => void

/** Options of `Agent`. */
export interface AgentOptions extends Omit<PoolOptions, 'factory'>, ConnectionLimitOptions {
  /** Makes the dispatcher for an origin. Default: a `Pool`, or a `Client` when `connections` is 1. */
  factory?: AgentFactory | null | undefined
  /** Most origins at a time; one more fails. Default: Infinity. */
  maxOrigins?: number | null | undefined
}

const OPTIONS = {
  factory: FACTORY as Option<AgentFactory | null>,
  connect: CONNECT,
  maxOrigins: option(
    Number.POSITIVE_INFINITY,
    (value) => typeof value === 'number' && value > 0,
    'maxOrigins must be a number greater than 0',
  ),
}

/** What `dispatch()` of an agent may be asked for. */
export interface AgentDispatchOptions extends DispatchOptions {
  /** false: this request goes over HTTP/1.1, whatever others to its origin do. */
  allowH2?: boolean | null | undefined
}

/** The dispatchers of one origin: HTTP/2 is allowed in the first, and not in the second. */
interface OriginEntry {
  any: Dispatcher | null
  http1: Dispatcher | null
}

type Kind = keyof OriginEntry

/**
 * Requests to any origin, with a pool for each of them.
 *
 * @example
 * const agent = new Agent({ connections: 8 })
 * const { body } = await agent.request({ origin: 'https://example.com', path: '/', method: 'GET' })
 */
export class Agent extends LifecycleDispatcher {
  readonly #make: (origin: string | URL, kind: Kind) => Dispatcher
  /** A caller's factory may serve origins other than HTTP ones. */
  readonly #anyOrigin: boolean
  readonly #maxOrigins: number
  /** By normalised origin. */
  readonly #entries = new Map<string, OriginEntry>()
  /** Forgotten, and not closed yet: their sockets may take their time. */
  readonly #leaving = new Set<Dispatcher>()
  #mock: AgentMock | null = null

  static {
    mockAgentRequests = (agent, mock) => {
      if (#mock in agent) agent.#mock = mock
    }
  }

  constructor(options: AgentOptions = {}) {
    if (options === null) throw new TypeError('options must not be null')
    const { factory, maxOrigins } = inCall(Agent, () => readOptions(OPTIONS, Object(options)))
    const own = ownOptions<AgentOptions>(Object(options))
    const { factory: _, maxOrigins: __, ...others } = own
    const poolOptions = withoutLimits(others)
    const limit =
      limitOf(options) ?? inCall(Agent, () => readConnectionLimit(own, factory === null ? null : 'factory'))
    const { webSocket, eventSource } = ownMembers(poolOptions)
    super(webSocket, eventSource)
    this.#anyOrigin = factory !== null
    this.#maxOrigins = maxOrigins
    this.#make = factory
      ? (origin, kind) =>
          withoutRejection(
            factory(origin, kind === 'any' ? { ...poolOptions } : { ...poolOptions, allowH2: false }),
          )
      : inCall(Agent, () => defaultFactory(poolOptions, limit))
  }

  /**
   * By origin; with the suffix `#h1` where a request has asked for HTTP/1.1 only, and with the name in
   * parentheses before it where an interceptor has replaced that by an address.
   */
  get stats(): Record<string, ClientStats | PoolStats> {
    const stats: [string, ClientStats | PoolStats][] = []
    for (const [origin, { any, http1 }] of this.#entries) {
      const own = any && statsOf(any)
      if (own) stats.push([origin, own])
      const older = http1 && statsOf(http1)
      if (older) stats.push([`${origin}#h1`, older])
    }
    return Object.fromEntries(stats)
  }

  override dispatch(
    options: AgentDispatchOptions,
    handler: DispatchHandler | LegacyDispatchHandler,
  ): boolean {
    return super.dispatch(optionsFor(options, handler), handler)
  }

  override connections(): ConnectionSnapshot[] {
    return connectionsOfAll([...this.#dispatchers, ...this.#leaving])
  }

  override retire(): void {
    retireAll(this.#dispatchers)
  }

  protected override accept(options: AgentDispatchOptions, handler: DispatchHandler): boolean {
    const { origin } = options
    if (!origin || (typeof origin !== 'string' && !(origin instanceof URL))) {
      throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
    }
    const mocked = this.#mock?.(options, handler) ?? null
    if (mocked !== null) return mocked
    const kind = options.allowH2 === false ? 'http1' : 'any'
    const key = this.#keyOf(origin, replacedName(options))
    const known = this.#entries.get(key)?.[kind]
    if (known) return this.#anyOrigin ? dispatchOn(known, options, handler) : known.dispatch(options, handler)

    const dispatcher = this.#add(key, kind, origin)
    try {
      return dispatchOn(dispatcher, options, handler)
    } finally {
      // Mistakes in a request show only there. Of what a caller's factory made, only its events tell that it
      // is idle.
      if (!this.#anyOrigin && isIdle(dispatcher)) this.#forget(key, kind, dispatcher)
    }
  }

  protected override get needsDrain(): boolean {
    return this.#dispatchers.some(takesNoMore)
  }

  protected override finish(done: () => void): void {
    closeAll([...this.#dispatchers, ...this.#leaving], done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    destroyAll([...this.#dispatchers, ...this.#leaving], reason, done)
    this.#entries.clear()
  }

  get #dispatchers(): Dispatcher[] {
    const all = [...this.#entries.values()].flatMap(({ any, http1 }) => [any, http1])
    return all.filter((dispatcher) => dispatcher !== null)
  }

  /**
   * All spellings of an origin share one dispatcher. Names that share an address do not: a connection belongs
   * to the name that its certificate was checked for.
   */
  #keyOf(origin: string | URL, name: string | null): string {
    if (name !== null) {
      const known = `(${name}) ${origin}`
      return this.#entries.has(known) ? known : `(${name}) ${this.#keyOf(origin, null)}`
    }
    // A caller's string must not be taken for a key with a name.
    if (typeof origin === 'string' && !origin.startsWith('(') && this.#entries.has(origin)) return origin
    if (this.#anyOrigin && !/^https?:/i.test(String(origin))) return String(origin)
    return checkedOrigin(origin).origin
  }

  #add(key: string, kind: Kind, origin: string | URL): Dispatcher {
    let entry = this.#entries.get(key)
    if (entry === undefined && this.#entries.size >= this.#maxOrigins) throw new MaxOriginsReachedError()
    const dispatcher = this.#make(origin, kind)
    reemit(this, dispatcher)
    const forget = (): void => this.#forget(key, kind, dispatcher)
    const forgetWhenIdle = (): void => {
      if (isIdle(dispatcher)) forget()
    }
    // After the event: its emitter has not finished yet.
    dispatcher.on('disconnect', () => queueMicrotask(forgetWhenIdle))
    dispatcher.on('connectionError', () => queueMicrotask(forgetWhenIdle))
    whenIdle(dispatcher, forget)
    // The factory may have asked for the same origin meanwhile.
    entry = this.#entries.get(key) ?? { any: null, http1: null }
    entry[kind] = dispatcher
    this.#entries.set(key, entry)
    return dispatcher
  }

  #forget(key: string, kind: Kind, dispatcher: Dispatcher): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry[kind] !== dispatcher || this.closed || this.destroyed) return
    entry[kind] = null
    if (entry.any === null && entry.http1 === null) this.#entries.delete(key)
    this.#leaving.add(dispatcher)
    closeAll([dispatcher], () => this.#leaving.delete(dispatcher))
  }
}

defineKind(Agent, 'ventuno.Agent')

/**
 * All dispatchers share a connector, and with it the TLS sessions: those of an origin outlive its dispatcher.
 * Each protocol offer has its own, because a session belongs to one.
 */
function defaultFactory(
  options: PoolOptions,
  limit: ConnectionLimit | null,
): (origin: string | URL, kind: Kind) => Dispatcher {
  const { connections, clientOptions } = readPoolOptions(options)
  const settings = readClientOptions(clientOptions)
  const connectors: Record<Kind, ConnectFunction | null> = { any: shareConnector(settings), http1: null }
  return (origin, kind) => {
    const offer = kind === 'any' ? null : { allowH2: false }
    const connect = connectors[kind] ?? shareConnector(readClientOptions({ ...clientOptions, ...offer }))
    connectors[kind] = connect
    return connections === 1
      ? new Client(origin, limited({ ...clientOptions, ...offer, connect }, limit))
      : new Pool(origin, limited({ ...options, ...offer, connect }, limit))
  }
}

/** The types under the names that programs written for undici use. */
export declare namespace Agent {
  export type { AgentDispatchOptions as DispatchOptions, AgentOptions as Options }
}
