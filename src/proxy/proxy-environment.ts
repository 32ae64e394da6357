/**
 * Owns which proxy a URL is reached through: from options and the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY,
 * lower case before upper case. It opens nothing, and does not check what a proxy's URL means.
 */
import { InvalidArgumentError } from '../errors.ts'
import { NoProxyList } from './no-proxy.ts'

/** The options that come before the variables. */
export interface ProxyEnvironmentOptions {
  /** Proxy for http: and ws: URLs, and without another also for https: and wss:. Empty for none. Default: `http_proxy`. */
  httpProxy?: string | URL | null | undefined
  /** Proxy for https: and wss: URLs. Empty for none. Default: `https_proxy`. */
  httpsProxy?: string | URL | null | undefined
  /** Hosts that are reached directly. Default: `no_proxy`, read again for each request. */
  noProxy?: string | null | undefined
}

/** The way to a URL, and what decided it. */
export interface ProxyDecision {
  /** The URL of the proxy with its user info; null for a direct connection. */
  readonly proxy: string | null
  /** The option or variable that decided, with the entry of a NO_PROXY list. Never the URL of a proxy. */
  readonly rule: string
}

/** The variables of a process, or anything like them. */
export type Variables = Readonly<Record<string, string | undefined>>

interface Setting {
  /** The option or the variable that it comes from. */
  readonly from: string
  readonly value: string
}

const NOT_SET: ProxyDecision = { proxy: null, rule: 'no proxy is set' }

/** The proxies as they were set when this was made, and the hosts without a proxy as they are set now. */
export class ProxyEnvironment {
  readonly http: ProxyDecision
  readonly https: ProxyDecision
  readonly #noProxy: Setting | null
  readonly #variables: Variables | null
  #listText = ''
  #list = new NoProxyList('')

  /** @param variables Default: those of the process, also when a program replaces `process.env`. */
  constructor(options: ProxyEnvironmentOptions = {}, variables: Variables | null = null) {
    const own: ProxyEnvironmentOptions = Object.assign(Object.create(null), options)
    const { noProxy } = own
    if (noProxy !== null && noProxy !== undefined && typeof noProxy !== 'string') {
      throw new InvalidArgumentError('noProxy must be a string')
    }
    this.#noProxy = typeof noProxy === 'string' ? { from: 'noProxy', value: noProxy } : null
    this.#variables = variables
    const all = this.#read('all_proxy') ?? this.#read('ALL_PROXY')
    const http = readOption(own, 'httpProxy') ?? this.#httpProxy()
    const https = readOption(own, 'httpsProxy') ?? this.#read('https_proxy') ?? this.#read('HTTPS_PROXY')
    this.http = decisionOf(http ?? all)
    this.https = decisionOf(https ?? http ?? all)
  }

  /** The option or variable with the first entry that applies to the URL; null if none does. */
  exception(url: URL): string | null {
    const setting = this.#noProxy ?? this.#read('no_proxy') ?? this.#read('NO_PROXY')
    if (setting === null) return null
    if (setting.value !== this.#listText) {
      this.#list = new NoProxyList(setting.value)
      this.#listText = setting.value
    }
    const entry = this.#list.match(url)
    return entry === null ? null : `${setting.from}: ${entry}`
  }

  /**
   * A web server passes the header `Proxy` of a request to its CGI programs as HTTP_PROXY: anyone could choose their
   * proxy ("httpoxy", CVE-2016-5385). On Windows `http_proxy` names the same variable.
   */
  #httpProxy(): Setting | null {
    const isCgi = Boolean(this.#read('REQUEST_METHOD')?.value)
    const lower = isCgi && process.platform === 'win32' ? null : this.#read('http_proxy')
    return lower ?? (isCgi ? null : this.#read('HTTP_PROXY'))
  }

  /** Only own properties count: `process.env` has the prototype of every object. */
  #read(name: string): Setting | null {
    const variables = this.#variables ?? process.env
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    return value === undefined ? null : { from: name, value }
  }
}

/** The way to a URL. The protocols of WebSockets go where http: and https: go. */
export function proxyFor(url: URL, environment: ProxyEnvironment): ProxyDecision {
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:'
  const decision = isSecure ? environment.https : environment.http
  if (decision.proxy === null) return decision
  const rule = environment.exception(url)
  return rule === null ? decision : { proxy: null, rule }
}

function readOption(options: ProxyEnvironmentOptions, name: 'httpProxy' | 'httpsProxy'): Setting | null {
  const value: unknown = options[name]
  if (value === null || value === undefined) return null
  if (typeof value !== 'string' && !(value instanceof URL)) {
    throw new InvalidArgumentError(`${name} must be a string or a URL`)
  }
  return { from: name, value: String(value) }
}

/** A value that is set and empty switches the proxy off. */
function decisionOf(setting: Setting | null): ProxyDecision {
  if (setting === null) return NOT_SET
  const value = setting.value.trim()
  if (value === '') return { proxy: null, rule: `${setting.from} is empty` }
  // Most tools take a host and a port for a proxy that speaks HTTP.
  return { proxy: value.includes('://') ? value : `http://${value}`, rule: setting.from }
}
