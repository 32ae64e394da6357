/** Requests through the proxies that options or the environment name. */

import { parseUrl } from '../base/address/parse-url.ts'
import { inCall } from '../base/error/public-call.ts'
import { defineKind } from '../base/object/kind.ts'
import { readProxyAddress } from './proxy-address.ts'
import { closeOtherRoutes, ProxyAgent } from './proxy-agent.ts'
import {
  type ProxyDecision,
  ProxyEnvironment,
  type ProxyEnvironmentOptions,
  proxyFor,
} from './proxy-environment.ts'
import type { ProxyAgentOptions } from './proxy-options.ts'

/** Options of `EnvHttpProxyAgent`: those of `ProxyAgent`, and the proxies in place of the environment's. */
export interface EnvHttpProxyAgentOptions
  extends Omit<ProxyAgentOptions, 'uri' | 'proxy'>,
    ProxyEnvironmentOptions {}

/**
 * Requests to any origin, through the proxy that the environment names for it or directly. A variable that
 * changes while the program runs holds from the next request on.
 *
 * @example
 * setGlobalDispatcher(new EnvHttpProxyAgent())
 */
export class EnvHttpProxyAgent extends ProxyAgent {
  readonly #environment: ProxyEnvironment

  constructor(options: EnvHttpProxyAgentOptions = {}) {
    const own: EnvHttpProxyAgentOptions = Object.assign(Object.create(null), options)
    const { httpProxy: _http, httpsProxy: _https, noProxy: _no, ...others } = own
    const environment = inCall(EnvHttpProxyAgent, () => readEnvironment(own))
    super({ ...others, uri: null, proxy: (origin) => proxyFor(origin, environment).proxy })
    this.#environment = environment
    environment.onChange = () => closeOtherRoutes(this, [environment.http.proxy, environment.https.proxy])
  }

  /** The proxy for a URL without its user info, null for none, and the option or variable that decides it. */
  explain(url: string | URL): ProxyDecision {
    const { protocol, host } = parseUrl(url)
    const { proxy, rule } = proxyFor(`${protocol}//${host}`, this.#environment)
    return { proxy: proxy === null ? null : readProxyAddress(proxy).uri, rule }
  }
}

/** A mistake shows now, and never leads to a direct connection. */
function readEnvironment(options: ProxyEnvironmentOptions): ProxyEnvironment {
  const environment = new ProxyEnvironment(options)
  for (const { proxy } of [environment.http, environment.https]) {
    if (proxy !== null) readProxyAddress(proxy)
  }
  return environment
}

defineKind(EnvHttpProxyAgent, 'ventuno.EnvHttpProxyAgent')

/** The types under the names that programs written for undici use. */
export declare namespace EnvHttpProxyAgent {
  export type { EnvHttpProxyAgentOptions as Options }
}
