/** `ventuno/proxy`: the agents that reach targets through proxies. */

export type { EnvHttpProxyAgentOptions } from './proxy/env-http-proxy-agent.ts'
export { EnvHttpProxyAgent } from './proxy/env-http-proxy-agent.ts'
export type { ProxyAgentStats } from './proxy/proxy-agent.ts'
export { ProxyAgent } from './proxy/proxy-agent.ts'
export type { ProxyDecision, ProxyEnvironmentOptions } from './proxy/proxy-environment.ts'
export type { ProxyTokenFunction } from './proxy/proxy-fields.ts'
export type {
  ProxyAgentOptions,
  ProxyChoice,
  ProxyClientFactory,
  ProxyRefusal,
  ProxyResponseFunction,
} from './proxy/proxy-options.ts'
export type { Socks5ProxyAgentOptions } from './proxy/socks5-options.ts'
export type { Socks5ProxyAgentStats } from './proxy/socks5-proxy-agent.ts'
export { Socks5ProxyAgent } from './proxy/socks5-proxy-agent.ts'
