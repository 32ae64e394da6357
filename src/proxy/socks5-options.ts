/** The options of `Socks5ProxyAgent`: their types, and what they come to for the two sides of a proxy. */
import { ownMembers } from '../base/object/own-options.ts'
import type { AgentOptions } from '../dispatcher/agent.ts'
import { CONNECT, type ConnectFunction } from '../dispatcher/client-options.ts'
import type { BuildConnectorOptions } from '../net/connector.ts'
import { finiteFrom, isObject, type OptionTable, option, readOption, readOptions } from '../options.ts'

/** Options of the agents for both kinds of proxy. */
export interface ProxySideOptions extends AgentOptions {
  /** Connector options for TLS to the proxy. With SOCKS, an object, also an empty one, switches it on. */
  proxyTls?: BuildConnectorOptions | null | undefined
  /** Connector options for the connection to the target, inside the tunnel. */
  requestTls?: BuildConnectorOptions | null | undefined
}

/** Options of `Socks5ProxyAgent`. Those of `Agent` hold for the connections to the targets. */
export interface Socks5ProxyAgentOptions extends ProxySideOptions {
  /** Name for the proxy. Default: from the URL. */
  username?: string | null | undefined
  /** Password for the proxy. Default: from the URL. */
  password?: string | null | undefined
  /** Milliseconds for each step: proxy, authentication, request, TLS; 0 for no limit. Default: 5 000. */
  connectTimeout?: number | null | undefined
  /** A function that opens the connections to the proxy, or an object: less important `requestTls`. */
  connect?: BuildConnectorOptions | ConnectFunction | undefined
  /** Taken for the sake of programs written for undici. SOCKS has no headers. */
  headers?: unknown
}

/** How connections to the proxy are opened. */
export interface Socks5DialSettings {
  readonly isSecure: boolean
  /** Connector options, unless the caller opens them. */
  readonly options: BuildConnectorOptions
  readonly connect: ConnectFunction | null
  /** Milliseconds, for what comes after. */
  readonly timeout: number
}

export interface Socks5Settings {
  readonly dial: Socks5DialSettings
  /** Connector options for TLS to targets. */
  readonly requestTls: BuildConnectorOptions
  /** undefined: a request chooses its server name. */
  readonly requestServername: string | null | undefined
  readonly isH2c: boolean
  /** For the target side, without what opens connections. */
  readonly agentOptions: AgentOptions
}

type Sides = Pick<Socks5Settings, 'dial' | 'requestTls' | 'isH2c'>

export const SIDE_CHECKS: OptionTable<Record<'proxyTls' | 'requestTls' | 'connect', unknown>> = {
  proxyTls: option(null, isObject, 'proxyTls must be an object'),
  requestTls: option(null, isObject, 'requestTls must be an object'),
  connect: CONNECT,
}
const CHECKS = { connectTimeout: option(5e3, finiteFrom(0)), ...SIDE_CHECKS }

/** What is not an option of `Agent`, or is for the connections to the proxy. */
const OF_PROXY = 'username password headers connectTimeout proxyTls requestTls connect tls'.split(' ')

/** Only own properties count. */
export function readSocks5Settings(own: Socks5ProxyAgentOptions): Socks5Settings {
  const { proxyTls, requestTls } = own
  const { connectTimeout: timeout } = readOptions(CHECKS, own)
  const { dial, requestTls: toTarget, isH2c } = readSides(own, timeout)
  const limit = option(timeout, finiteFrom(0))
  const proxyTimeout = readOption('proxyTls.timeout', ownMembers(proxyTls)?.timeout, limit)
  const targetTimeout = readOption('requestTls.timeout', ownMembers(requestTls)?.timeout, limit)
  return {
    dial: { ...dial, options: { ...dial.options, timeout: proxyTimeout } },
    requestTls: { ...toTarget, timeout: targetTimeout },
    requestServername: ownMembers(requestTls)?.servername || undefined,
    isH2c,
    agentOptions: without(own, OF_PROXY),
  }
}

/** A copy without these properties. */
export function without(own: AgentOptions, names: readonly string[]): AgentOptions {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !names.includes(name)))
}

/** For connections to a proxy and inside its tunnels. `proxyTls` and `requestTls` come before the others. */
export function readSides(own: Socks5ProxyAgentOptions, timeout: number): Sides {
  const { connect, tls, proxyTls, requestTls, maxCachedSessions, useH2c } = own
  const { localAddress, autoSelectFamily, autoSelectFamilyAttemptTimeout } = own
  const isFunction = typeof connect === 'function'
  return {
    dial: {
      isSecure: proxyTls !== null && proxyTls !== undefined,
      options: {
        ...(localAddress ? { localAddress } : null),
        ...(typeof autoSelectFamily === 'boolean' ? { autoSelectFamily } : null),
        ...(typeof autoSelectFamilyAttemptTimeout === 'number' ? { autoSelectFamilyAttemptTimeout } : null),
        timeout,
        ...proxyTls,
      },
      connect: isFunction ? connect : null,
      timeout,
    },
    requestTls: { ...tls, maxCachedSessions, timeout, ...(isFunction ? null : connect), ...requestTls },
    isH2c: useH2c === true,
  }
}
