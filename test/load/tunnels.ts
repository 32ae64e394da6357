/** Opens and closes many tunnels, each with one request inside. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ProxyAgent } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import type { TunnelPeer } from './tunnel-peer.ts'
import { until } from './watch.ts'

/** Tunnels at a time. */
const LANES = 20

/** Origins in turn: they are forgotten, and come back. */
const ORIGINS = 500

export class Tunnels {
  readonly agent: ProxyAgent
  /** Opened so far. */
  count = 0
  readonly #onConnected = (): void => {
    this.count++
  }

  constructor({ url }: TunnelPeer) {
    // Without pipelining no connection is kept.
    this.agent = new ProxyAgent({ uri: url, proxyTunnel: true, pipelining: 0, proxyTls: { ca: authority } })
    subscribe('undici:proxy:connected', this.#onConnected)
  }

  async open(count: number): Promise<void> {
    const end = this.count + count
    let next = this.count
    const lane = async (): Promise<void> => {
      while (next < end) {
        const origin = `http://n${next++ % ORIGINS}.test`
        const { body } = await this.agent.request({ origin, path: '/', method: 'GET' })
        assert.equal(await body.text(), 'ok')
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    assert.equal(this.count, end)
    // Only the connections to the proxy that all tunnels share are left.
    await until(() => Object.keys(this.agent.stats).join() === 'proxy' && this.agent.stats.proxy.size === 0)
  }

  async close(): Promise<void> {
    unsubscribe('undici:proxy:connected', this.#onConnected)
    await this.agent.close()
  }
}
