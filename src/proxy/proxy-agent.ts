/**
 * Requests to any origin through a proxy. What a request does there is in proxy-route.ts; this file decides which way it
 * takes, and is the public face.
 */
import { defineKind } from '../base/kind.ts'
import { parseOrigin } from '../base/origin.ts'
import { withoutPollution } from '../base/own-options.ts'
import { ignoreRejection } from '../base/stray-promise.ts'
import { Agent, type AgentDispatchOptions } from '../dispatcher/agent.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { endAll } from '../dispatcher/end-all.ts'
import { LifecycleDispatcher, takesNoMore } from '../dispatcher/lifecycle.ts'
import type { PoolStats } from '../dispatcher/stats.ts'
import { InvalidArgumentError } from '../errors.ts'
import { isLegacyHandler } from '../handler/legacy-handler.ts'
import { isFunction, option, readOption } from '../options.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { EndReason } from '../request/end-reason.ts'
import { type AnyProxyAddress, readAnyProxyAddress } from './any-proxy-address.ts'
import type { ForwardTarget } from './forwarded-request.ts'
import {
  type ProxyAgentOptions,
  type ProxyChoice,
  type ProxySettings,
  readProxySettings,
} from './proxy-options.ts'
import { ProxyRoute } from './proxy-route.ts'
import { reemit } from './reemit.ts'
import { guardHeaders } from './request-headers.ts'

/** The stats of each origin, and of the connections to the proxies. */
export type ProxyAgentStats = Agent['stats'] & { proxy: PoolStats }

/** Routes that a `proxy` function has chosen lately; a caller that changes the proxy with each request must not fill memory. */
const MOST_ROUTES = 100
/** Origins whose spelling is remembered. */
const MOST_TARGETS = 1000
/** The key of the direct way. */
const DIRECT = ''

type Way = ProxyRoute | Agent

/** Closes the routes through other proxies than these, when their requests have ended. For agents that derive from it. */
export let closeOtherRoutes: (agent: ProxyAgent, proxies: readonly (string | null)[]) => void

/**
 * Requests to any origin through a proxy: http targets are forwarded, others are reached through tunnels. Through a SOCKS
 * proxy all of them are.
 *
 * @example
 * const agent = new ProxyAgent('http://user:password@proxy.example:3128')
 * const { body } = await agent.request({ origin: 'https://example.com', path: '/', method: 'GET' })
 */
export class ProxyAgent extends LifecycleDispatcher {
  readonly #settings: ProxySettings
  readonly #choose: ((origin: string) => ProxyChoice) | null
  /** The way of an agent with one proxy. */
  readonly #fixed: ProxyRoute | null
  /** By the proxies chosen, the one used last at the end. */
  readonly #ways = new Map<string, Way>()
  /** Forgotten, and not closed yet. */
  readonly #leaving = new Set<Way>()
  readonly #targets = new Map<string, ForwardTarget>()

  static {
    closeOtherRoutes = (agent, proxies) => {
      for (const key of [...agent.#ways.keys()]) {
        if (key !== DIRECT && !proxies.includes(key)) agent.#forget(key)
      }
    }
  }

  constructor(options: string | URL | ProxyAgentOptions) {
    const own = ownOptions(options)
    const { uri, proxy, clientFactory } = own
    if (!uri && !proxy) throw new InvalidArgumentError('Proxy uri is mandatory')
    if (clientFactory !== undefined && typeof clientFactory !== 'function') {
      throw new InvalidArgumentError('Proxy opts.clientFactory must be a function.')
    }
    readOption('proxy', proxy, option(null, isFunction, 'proxy must be a function'))
    const address = uri ? readAnyProxyAddress(uri) : null
    const settings = readProxySettings(own)
    super(own.webSocket, own.eventSource)
    this.#settings = settings
    this.#choose = proxy ?? null
    this.#fixed = address === null || proxy ? null : this.#route([address])
    // All that is wrong shows at once, whatever the function chooses later.
    if (proxy) this.#ways.set(DIRECT, this.#direct())
  }

  /** As `stats` of an agent, and `proxy` for the connections to the proxies. */
  get stats(): ProxyAgentStats {
    const proxy: PoolStats = { connected: 0, free: 0, pending: 0, queued: 0, running: 0, size: 0 }
    const stats: Agent['stats'] = {}
    for (const way of this.#all) {
      Object.assign(stats, way.stats)
      if (way instanceof ProxyRoute) way.addStats(proxy)
    }
    return Object.assign(stats, { proxy })
  }

  override dispatch(given: AgentDispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    if (typeof given !== 'object' || given === null) return super.dispatch(given, handler)
    const options = withoutPollution(given)
    const headers = guardHeaders(options.headers)
    // The WebSocket of Node 20, 22 and 24 knows only the handshake of HTTP/1.1.
    const isOlder = options.upgrade === 'websocket' && isLegacyHandler(handler)
    if (headers === options.headers && !isOlder) return super.dispatch(options, handler)
    const changed = { ...options, headers, ...(isOlder ? { allowH2: false } : null) }
    return super.dispatch(changed as AgentDispatchOptions, handler)
  }

  protected override accept(options: AgentDispatchOptions, handler: DispatchHandler): boolean {
    const { origin } = options
    if (!origin || (typeof origin !== 'string' && !(origin instanceof URL))) {
      throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
    }
    const target = this.#targetOf(String(origin))
    const way = this.#choose === null ? this.#fixed! : this.#chosen(this.#choose(target.origin))
    return way instanceof ProxyRoute ? way.dispatch(options, target, handler) : way.dispatch(options, handler)
  }

  protected override get needsDrain(): boolean {
    return this.#all.some((way) => (way instanceof ProxyRoute ? way.needsDrain : takesNoMore(way)))
  }

  protected override finish(done: () => void): void {
    whenAll([...this.#all, ...this.#leaving], (way, one) => finishWay(way, one), done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    whenAll(
      [...this.#all, ...this.#leaving],
      (way, one) => {
        if (way instanceof ProxyRoute) way.terminate(reason, one)
        else
          endAll([way], (agent, ended) => agent.destroy(reason.isCallers ? reason.error : null, ended), one)
      },
      done,
    )
  }

  get #all(): Way[] {
    return this.#fixed === null ? [...this.#ways.values()] : [this.#fixed, ...this.#ways.values()]
  }

  #route(addresses: readonly AnyProxyAddress[]): ProxyRoute {
    return new ProxyRoute(addresses, this.#settings, (made) => this.#listenTo(made))
  }

  #direct(): Agent {
    const { agentOptions, requestTls } = this.#settings
    const agent = new Agent({ ...agentOptions, connect: requestTls })
    this.#listenTo(agent)
    return agent
  }

  #listenTo(made: Dispatcher): void {
    reemit(this, made, made instanceof Agent)
  }

  #targetOf(origin: string): ForwardTarget {
    const known = this.#targets.get(origin)
    if (known !== undefined) return known
    const parsed = parseOrigin(origin)
    if ('problem' in parsed) throw new InvalidArgumentError(parsed.problem)
    if (this.#targets.size >= MOST_TARGETS) this.#targets.clear()
    const target: ForwardTarget = { origin: parsed.origin, host: parsed.authority }
    this.#targets.set(origin, target)
    return target
  }

  #chosen(choice: ProxyChoice): Way {
    ignoreRejection(choice)
    // It is always there.
    if (choice === null) return this.#ways.get(DIRECT)!
    const uris: readonly (string | URL)[] = Array.isArray(choice) ? choice : [choice]
    const key = uris.map(String).join(' ')
    // Only null means a direct connection: a mistake must not lead to one.
    if (choice instanceof Promise || uris.some((uri) => !uri) || key === DIRECT) {
      throw new InvalidArgumentError('proxy must return a URL, a list of URLs, or null')
    }
    const way = this.#ways.get(key) ?? this.#route(uris.map((uri) => readAnyProxyAddress(uri)))
    this.#ways.delete(key)
    this.#ways.set(key, way)
    if (this.#ways.size > MOST_ROUTES) this.#forgetOldest()
    return way
  }

  #forgetOldest(): void {
    const oldest = [...this.#ways.keys()].find((key) => key !== DIRECT)
    if (oldest !== undefined) this.#forget(oldest)
  }

  #forget(key: string): void {
    const way = this.#ways.get(key)!
    this.#ways.delete(key)
    this.#leaving.add(way)
    finishWay(way, () => this.#leaving.delete(way))
  }
}

defineKind(ProxyAgent, 'ventuno.ProxyAgent')

function ownOptions(options: unknown): ProxyAgentOptions {
  const isUri = typeof options !== 'object' || options === null || options instanceof URL
  return Object.assign(Object.create(null), isUri ? { uri: options } : options) as ProxyAgentOptions
}

function finishWay(way: Way, done: () => void): void {
  if (way instanceof ProxyRoute) way.finish(done)
  else endAll([way], (agent, ended) => agent.close(ended), done)
}

function whenAll(ways: readonly Way[], end: (way: Way, one: () => void) => void, done: () => void): void {
  let left = ways.length
  if (left === 0) queueMicrotask(done)
  for (const way of ways) {
    end(way, () => {
      if (--left === 0) done()
    })
  }
}

/** The types under the names that programs written for undici use. */
export declare namespace ProxyAgent {
  export type { ProxyAgentOptions as Options }
}
