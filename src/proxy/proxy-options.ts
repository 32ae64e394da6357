/** The options of `ProxyAgent`: their types, and what they come to for the two sides of a proxy. */
import { ownMembers } from '../base/object/own-options.ts'
import type { ConnectFunction } from '../dispatcher/client-options.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import type { ConnectionLimit } from '../dispatcher/places/connection-limit.ts'
import { readConnectionLimit, withoutLimits } from '../dispatcher/places/limit-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import { type TargetCheckSettings, targetCheck } from '../net/target-check.ts'
import { finiteFrom, isFunction, option, readOptions } from '../options.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import type { Refusal } from './proxy-error.ts'
import type { ProxyTokenFunction } from './proxy-fields.ts'
import {
  type ProxySideOptions,
  readSides,
  SIDE_CHECKS,
  type Socks5Settings,
  without,
} from './socks5-options.ts'

/** The answer of a proxy that refused. */
export type ProxyRefusal = Refusal

/** Called with a refusal: returns the headers for one more try, or nothing. */
export type ProxyResponseFunction = (
  response: ProxyRefusal,
) => HeadersInput | null | undefined | Promise<HeadersInput | null | undefined>

/** Makes a dispatcher to the proxy; `connect` opens its connections. */
export type ProxyClientFactory = (origin: URL, options: { connect: ConnectFunction }) => Dispatcher

/** One proxy; several, which are tried in this order; or null for a direct connection. */
export type ProxyChoice = string | URL | readonly (string | URL)[] | null

/** Options of `ProxyAgent`. Those of `Agent` hold for the connections to the targets. */
export interface ProxyAgentOptions extends ProxySideOptions {
  /** The proxy, with or without user info. Required, unless `proxy` is given. */
  uri?: string | URL | null | undefined
  /** Chooses the proxy for an origin; called for each request. */
  proxy?: ((origin: string) => ProxyChoice) | null | undefined
  /** `proxy-authorization`, or a function that returns it: called for each CONNECT, and after a 407. */
  token?: string | ProxyTokenFunction | null | undefined
  /** Base64 of `user:password`, for `Basic`. Deprecated: use `token` or user info in `uri`. */
  auth?: string | null | undefined
  /** Sent to the proxy only. */
  headers?: HeadersInput | null | undefined
  /** true: also http targets are reached through tunnels. Default: false. */
  proxyTunnel?: boolean | null | undefined
  /** false: one forwarded request for each connection to the proxy. Default: true. */
  proxyKeepAlive?: boolean | null | undefined
  /** Called when the proxy refuses; may return headers for one more try on that connection. */
  onProxyResponse?: ProxyResponseFunction | null | undefined
  /** Makes the dispatchers to the proxy. Default: a `Pool`. */
  clientFactory?: ProxyClientFactory | null | undefined
}

export interface ProxySettings
  extends Socks5Settings,
    Readonly<Record<'headers' | 'token' | 'auth', unknown>> {
  readonly onProxyResponse: ProxyResponseFunction | null
  readonly clientFactory: ProxyClientFactory | null
  /** For targets that the proxy connects to; null if nothing guards them. */
  readonly targetCheck: TargetCheckSettings | null
  /** Over all routes, if there is one: tunnels, and connections for forwarded requests. */
  readonly limit: ConnectionLimit | null
  readonly tunnelsAll: boolean
  readonly keepsAlive: boolean
}

const CHECKS = {
  onProxyResponse: option(null, isFunction, 'onProxyResponse must be a function'),
  ...SIDE_CHECKS,
  connectTimeout: option(10e3, finiteFrom(0)),
}

/** What is not an option of `Agent`, or is for the connections to proxies. */
const OF_PROXIES = (
  'uri proxy token auth headers requestTls proxyTls proxyTunnel proxyKeepAlive onProxyResponse ' +
  'clientFactory connect tls'
).split(' ')

/** Only own properties count. The proxy itself has been checked before. */
export function readProxySettings(own: ProxyAgentOptions): ProxySettings {
  const { token, auth, headers, requestTls, onProxyResponse = null, clientFactory = null } = own
  if (auth && token) {
    throw new InvalidArgumentError('opts.auth cannot be used in combination with opts.token')
  }
  const sides = readSides(own, readOptions(CHECKS, own).connectTimeout)
  return {
    ...sides,
    headers,
    token,
    auth,
    onProxyResponse,
    clientFactory,
    targetCheck: targetCheck(sides.requestTls),
    requestServername: requestTls ? (ownMembers(requestTls).servername ?? null) : undefined,
    limit: readConnectionLimit(own, own.factory ? 'factory' : clientFactory ? 'clientFactory' : null),
    tunnelsAll: own.proxyTunnel === true,
    keepsAlive: own.proxyKeepAlive !== false,
    agentOptions: withoutLimits(without(own, OF_PROXIES)),
  }
}
