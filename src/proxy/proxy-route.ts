/**
 * How requests reach their targets: through one proxy, through the first of several that can be used, or
 * through none. It has an agent for the targets, whose connections are tunnels, and forwards the requests
 * that need none.
 */
import { asciiHost } from '../base/address/server-name.ts'
import { Agent, type AgentDispatchOptions } from '../dispatcher/agent.ts'
import { type ConnectionSnapshot, connectionsOf } from '../dispatcher/connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { closeAll, destroyAll, retireAll } from '../dispatcher/end-all.ts'
import { takesNoMore } from '../dispatcher/lifecycle.ts'
import { limited } from '../dispatcher/places/limit-options.ts'
import { type PoolStats, statsOf } from '../dispatcher/stats.ts'
import { portOf } from '../guard/place.ts'
import type { ConnectorOptions } from '../net/connector.ts'
import { PendingSet } from '../relay/pending-set.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { EndReason } from '../request/end-reason.ts'
import { ForwardedRequest, type Forwarding, type ForwardTarget } from './forwarded-request.ts'
import { isHttpProxy, type ProxyAddress } from './proxy-address.ts'
import { ProxyHop } from './proxy-hop.ts'
import type { ProxySettings } from './proxy-options.ts'
import { Socks5Hop } from './socks5-hop.ts'
import { TunnelAttempt } from './tunnel-attempt.ts'
import { tunnelConnector } from './tunnel-connector.ts'
import type { TunnelHop } from './tunnel-hop.ts'

export class ProxyRoute {
  readonly #socksHops: readonly Socks5Hop[]
  readonly #agent: Agent
  readonly #forwards: boolean
  /** Its hops are those that speak HTTP. */
  readonly #forwarding: Forwarding

  /** `onMade` is called with each dispatcher whose events concern callers. */
  constructor(
    addresses: readonly ProxyAddress[],
    settings: ProxySettings,
    onMade: (dispatcher: Dispatcher) => void,
  ) {
    const all = addresses.map((address) =>
      isHttpProxy(address) ? new ProxyHop(address, settings, onMade) : new Socks5Hop(address, settings.dial),
    )
    this.#socksHops = all.filter((hop) => hop instanceof Socks5Hop)
    const tunnelHops = all.map((hop) => (hop instanceof ProxyHop ? httpHop(hop) : hop))
    const connect = all.length === 0 ? settings.requestTls : tunnelConnector(tunnelHops, settings)
    this.#agent = new Agent(limited({ ...settings.agentOptions, connect }, settings.limit))
    const hops = all.filter((hop) => hop instanceof ProxyHop)
    this.#forwarding = { hops, held: new PendingSet(), check: settings.targetCheck }
    // A SOCKS proxy forwards nothing.
    this.#forwards = !settings.tunnelsAll && all.length > 0 && this.#socksHops.length === 0
    onMade(this.#agent)
  }

  /** Upgrades and CONNECT are for the target: a proxy would take them for itself, or strip them. */
  dispatch(options: AgentDispatchOptions, target: ForwardTarget, handler: DispatchHandler): boolean {
    const isForwarded =
      this.#forwards && target.origin.startsWith('http:') && !options.upgrade && options.method !== 'CONNECT'
    return isForwarded
      ? new ForwardedRequest({ opts: options, handler, dispatch: null }, this.#forwarding, target).start()
      : this.#agent.dispatch(options, handler)
  }

  get needsDrain(): boolean {
    return this.#targetSide.some(takesNoMore)
  }

  /** Of the targets, by origin. */
  get stats(): Agent['stats'] {
    return this.#agent.stats
  }

  /** Of the connections to the proxies that HTTP is spoken on. */
  addStats(sum: PoolStats): void {
    for (const hop of this.#socksHops) hop.addStats(sum)
    for (const dispatcher of [...this.#made('tunnelling'), ...this.#made('forwarding')]) {
      const stats = statsOf(dispatcher) as Partial<PoolStats> | null
      for (const name of Object.keys(sum) as (keyof PoolStats)[]) sum[name] += Number(stats?.[name] ?? 0)
    }
  }

  get connections(): ConnectionSnapshot[] {
    const rows = this.#agent.connections()
    for (const { uri, dispatchers } of this.#forwarding.hops) {
      for (const dispatcher of [dispatchers.tunnelling, dispatchers.forwarding]) {
        if (dispatcher === null) continue
        for (const row of connectionsOf(dispatcher)) rows.push({ ...row, proxy: uri })
      }
    }
    return rows
  }

  /** A tunnel ends with the connection that it carries. */
  retire(): void {
    retireAll([...this.#targetSide, ...this.#made('tunnelling')])
  }

  /** Requests first, then what tunnels run over. */
  finish(done: () => void): void {
    this.#forwarding.held.whenEmpty(() => {
      closeAll(this.#targetSide, () => closeAll(this.#made('tunnelling'), done))
    })
  }

  terminate(reason: EndReason, done: () => void): void {
    const { held } = this.#forwarding
    for (const call of [...held]) {
      call.fail(reason.error)
      held.delete(call)
    }
    destroyAll([...this.#targetSide, ...this.#made('tunnelling')], reason, done)
  }

  get #targetSide(): Dispatcher[] {
    return [this.#agent, ...this.#made('forwarding')]
  }

  #made(kind: keyof ProxyHop['dispatchers']): Dispatcher[] {
    return this.#forwarding.hops.flatMap((hop) => hop.dispatchers[kind] ?? [])
  }
}

/** Opens tunnels with CONNECT. */
function httpHop(hop: ProxyHop): TunnelHop {
  return {
    uri: hop.uri,
    tunnelPhase: 'proxy-connect',
    tunnelTo: (target, answer) => new TunnelAttempt(hop, authorityOf(target), answer),
  }
}

/** Host and port as CONNECT names them (RFC 9112 §3.2.3). */
function authorityOf(target: ConnectorOptions): string {
  const host = asciiHost(target.hostname) ?? ''
  return `${host.includes(':') ? `[${host}]` : host}:${portOf(target)}`
}
