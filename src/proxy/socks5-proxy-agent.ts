/** Requests to any origin through a SOCKS 5 proxy: an agent whose connections are tunnels. */
import { inCall } from '../base/error/public-call.ts'
import { defineKind } from '../base/object/kind.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { Agent, type AgentDispatchOptions } from '../dispatcher/agent.ts'
import type { ConnectionSnapshot } from '../dispatcher/connection-snapshot.ts'
import { closeAll, destroyAll } from '../dispatcher/end-all.ts'
import { LifecycleDispatcher, takesNoMore } from '../dispatcher/lifecycle.ts'
import { reemit } from '../dispatcher/reemit.ts'
import type { PoolStats } from '../dispatcher/stats.ts'
import { optionsFor } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { EndReason } from '../request/end-reason.ts'
import { readSocks5Address } from './socks5-address.ts'
import { Socks5Hop } from './socks5-hop.ts'
import { readSocks5Settings, type Socks5ProxyAgentOptions } from './socks5-options.ts'
import { tunnelConnector } from './tunnel-connector.ts'

/** The stats of each origin, and of the tunnels: `connected` are open, `pending` are being opened. */
export type Socks5ProxyAgentStats = Agent['stats'] & { proxy: PoolStats }

/**
 * Requests to any origin through a SOCKS 5 proxy, which also resolves the names.
 *
 * @example
 * const agent = new Socks5ProxyAgent('socks5://user:password@proxy.example:1080')
 * const { body } = await agent.request({ origin: 'https://example.com', path: '/', method: 'GET' })
 */
export class Socks5ProxyAgent extends LifecycleDispatcher {
  readonly #hop: Socks5Hop
  readonly #agent: Agent

  /** @param url `socks5://[user[:password]@]host[:port]`; also with `socks5h:` or `socks:`. */
  constructor(url: string | URL, options: Socks5ProxyAgentOptions = {}) {
    const own: Socks5ProxyAgentOptions = Object.assign(Object.create(null), options)
    const address = inCall(Socks5ProxyAgent, () => readSocks5Address(url, own))
    const settings = inCall(Socks5ProxyAgent, () => readSocks5Settings(own))
    super(own.webSocket, own.eventSource)
    this.#hop = new Socks5Hop(address, settings.dial)
    const connect = tunnelConnector([this.#hop], settings)
    this.#agent = inCall(Socks5ProxyAgent, () => new Agent({ ...settings.agentOptions, connect }))
    reemit(this, this.#agent, true)
  }

  /** As `stats` of an agent, and `proxy` for the tunnels. */
  get stats(): Socks5ProxyAgentStats {
    const proxy: PoolStats = { connected: 0, free: 0, pending: 0, queued: 0, running: 0, size: 0 }
    this.#hop.addStats(proxy)
    return Object.assign(this.#agent.stats, { proxy })
  }

  override dispatch(given: AgentDispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean {
    return super.dispatch(optionsFor(withoutPollution(given), handler), handler)
  }

  override connections(): ConnectionSnapshot[] {
    return this.#agent.connections()
  }

  override retire(): void {
    this.#agent.retire()
  }

  protected override accept(options: AgentDispatchOptions, handler: DispatchHandler): boolean {
    return this.#agent.dispatch(options, handler)
  }

  protected override get needsDrain(): boolean {
    return takesNoMore(this.#agent)
  }

  protected override finish(done: () => void): void {
    closeAll([this.#agent], done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    destroyAll([this.#agent], reason, done)
  }
}

defineKind(Socks5ProxyAgent, 'ventuno.Socks5ProxyAgent')

/** The types under the names that programs written for undici use. */
export declare namespace Socks5ProxyAgent {
  export type { Socks5ProxyAgentOptions as Options }
}
