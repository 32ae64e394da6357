/** Requests to any origin through a proxy: the public face, and which route a request takes. */

import { inCall } from '../base/error/public-call.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { defineKind } from '../base/object/kind.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { Agent, type AgentDispatchOptions } from '../dispatcher/agent.ts'
import { checkedOrigin } from '../dispatcher/checked-origin.ts'
import type { ConnectionSnapshot } from '../dispatcher/connection-snapshot.ts'
import { endAll } from '../dispatcher/end-all.ts'
import { LifecycleDispatcher } from '../dispatcher/lifecycle.ts'
import { reemit } from '../dispatcher/reemit.ts'
import type { PoolStats } from '../dispatcher/stats.ts'
import { InvalidArgumentError } from '../errors.ts'
import { optionsFor } from '../handler/legacy-handler.ts'
import { isFunction, option, readOption } from '../options.ts'
import { OriginTable } from '../relay/origin-key.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { EndReason } from '../request/end-reason.ts'
import type { ForwardTarget } from './forwarded-request.ts'
import { type ProxyAddress, readProxyAddress } from './proxy-address.ts'
import { guardHeaders } from './proxy-fields.ts'
import {
  type ProxyAgentOptions,
  type ProxyChoice,
  type ProxySettings,
  readProxySettings,
} from './proxy-options.ts'
import { ProxyRoute } from './proxy-route.ts'

/** The stats of each origin, and of the connections to the proxies. */
export type ProxyAgentStats = Agent['stats'] & { proxy: PoolStats }

/** Routes that are kept: a `proxy` function may choose another proxy for each request. */
const MOST_ROUTES = 100
/** The key of the only route of an agent with one proxy. If a function chooses, it is the direct one. */
const DEFAULT = ''

/** For subclasses: closes the routes through other proxies than these when their requests have ended. */
export let closeOtherRoutes: (agent: ProxyAgent, proxies: readonly (string | null)[]) => void

/**
 * Requests to any origin through a proxy: http targets are forwarded, others are reached through tunnels.
 * Through a SOCKS proxy all of them are.
 *
 * @example
 * const agent = new ProxyAgent('http://user:password@proxy.example:3128')
 * const { body } = await agent.request({ origin: 'https://example.com', path: '/', method: 'GET' })
 */
export class ProxyAgent extends LifecycleDispatcher {
  readonly #settings: ProxySettings
  readonly #choose: ((origin: string) => ProxyChoice) | null
  /** By the proxies chosen, the one used last at the end. */
  readonly #routes = new Map<string, ProxyRoute>()
  /** Forgotten, and not closed yet. */
  readonly #leaving = new Set<ProxyRoute>()
  readonly #targets = new OriginTable(targetOf)

  static {
    closeOtherRoutes = (agent, proxies) => {
      for (const key of [...agent.#routes.keys()]) {
        if (key !== DEFAULT && !proxies.includes(key)) agent.#forget(key)
      }
    }
  }

  constructor(options: string | URL | ProxyAgentOptions) {
    const own = ownOptions(options)
    const { proxy } = own
    const { address, settings } = inCall(ProxyAgent, () => readArguments(own))
    super(own.webSocket, own.eventSource)
    this.#settings = settings
    this.#choose = proxy ?? null
    // Also where a function chooses: what is wrong with the options shows at once.
    const addresses = proxy || address === null ? [] : [address]
    this.#routes.set(
      DEFAULT,
      inCall(ProxyAgent, () => this.#route(addresses)),
    )
  }

  /** As `stats` of an agent, and `proxy` for the connections to the proxies. */
  get stats(): ProxyAgentStats {
    const proxy: PoolStats = { connected: 0, free: 0, pending: 0, queued: 0, running: 0, size: 0 }
    const stats: Agent['stats'] = {}
    for (const route of this.#routes.values()) {
      Object.assign(stats, route.stats)
      route.addStats(proxy)
    }
    return Object.assign(stats, { proxy })
  }

  override dispatch(given: AgentDispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    if (typeof given !== 'object' || given === null) return super.dispatch(given, handler)
    const options = optionsFor(withoutPollution(given), handler)
    const headers = guardHeaders(options.headers)
    return super.dispatch(headers === options.headers ? options : { ...options, headers }, handler)
  }

  /** Those to the targets, and those to the proxies that HTTP is spoken on. */
  override connections(): ConnectionSnapshot[] {
    return [...this.#routes.values(), ...this.#leaving].flatMap((route) => route.connections)
  }

  override retire(): void {
    for (const route of this.#routes.values()) route.retire()
  }

  protected override accept(options: AgentDispatchOptions, handler: DispatchHandler): boolean {
    const { origin } = options
    if (!origin || (typeof origin !== 'string' && !(origin instanceof URL))) {
      throw new InvalidArgumentError('opts.origin must be a non-empty string or URL.')
    }
    const target = this.#targets.get(String(origin))
    const route =
      this.#choose === null ? this.#routes.get(DEFAULT)! : this.#chosen(this.#choose(target.origin))
    return route.dispatch(options, target, handler)
  }

  protected override get needsDrain(): boolean {
    return [...this.#routes.values()].some((route) => route.needsDrain)
  }

  protected override finish(done: () => void): void {
    endAll([...this.#routes.values(), ...this.#leaving], (route, ended) => route.finish(ended), done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    const all = [...this.#routes.values(), ...this.#leaving]
    endAll(all, (route, ended) => route.terminate(reason, ended), done)
  }

  #route(addresses: readonly ProxyAddress[]): ProxyRoute {
    return new ProxyRoute(addresses, this.#settings, (made) => reemit(this, made, made instanceof Agent))
  }

  #chosen(choice: ProxyChoice): ProxyRoute {
    ignoreRejection(choice)
    if (choice === null) return this.#routes.get(DEFAULT)!
    const uris: readonly (string | URL)[] = Array.isArray(choice) ? choice : [choice]
    const key = uris.map(String).join(' ')
    // Only null means a direct connection: a mistake must not lead to one.
    if (choice instanceof Promise || uris.some((uri) => !uri) || key === DEFAULT) {
      throw new InvalidArgumentError('proxy must return a URL, a list of URLs, or null')
    }
    const route = this.#routes.get(key) ?? this.#route(uris.map((uri) => readProxyAddress(uri)))
    this.#routes.delete(key)
    this.#routes.set(key, route)
    if (this.#routes.size > MOST_ROUTES) {
      this.#forget([...this.#routes.keys()].find((oldest) => oldest !== DEFAULT)!)
    }
    return route
  }

  #forget(key: string): void {
    const route = this.#routes.get(key)!
    this.#routes.delete(key)
    this.#leaving.add(route)
    route.finish(() => this.#leaving.delete(route))
  }
}

defineKind(ProxyAgent, 'ventuno.ProxyAgent')

function readArguments(own: ProxyAgentOptions): { address: ProxyAddress | null; settings: ProxySettings } {
  const { uri, proxy, clientFactory } = own
  if (!uri && !proxy) throw new InvalidArgumentError('Proxy uri is mandatory')
  if (clientFactory !== undefined && typeof clientFactory !== 'function') {
    throw new InvalidArgumentError('Proxy opts.clientFactory must be a function.')
  }
  readOption('proxy', proxy, option(null, isFunction, 'proxy must be a function'))
  const address = uri ? readProxyAddress(uri) : null
  return { address, settings: readProxySettings(own) }
}

function targetOf(origin: string): ForwardTarget {
  const parsed = checkedOrigin(origin)
  return { origin: parsed.origin, host: parsed.host }
}

function ownOptions(options: unknown): ProxyAgentOptions {
  const isUri = typeof options !== 'object' || options === null || options instanceof URL
  return Object.assign(Object.create(null), isUri ? { uri: options } : options) as ProxyAgentOptions
}

/** The types under the names that programs written for undici use. */
export declare namespace ProxyAgent {
  export type { ProxyAgentOptions as Options }
}
