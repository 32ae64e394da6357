/**
 * Owns which proxy a URL is reached through: from options and the variables HTTP_PROXY, HTTPS_PROXY,
 * ALL_PROXY and NO_PROXY, lower case before upper case. It opens nothing, and does not check what a proxy's
 * URL means.
 */
import { parseUrl } from '../base/address/parse-url.ts'
import { type Check, isString, type OptionTable, option, readOptions } from '../options.ts'
import { OriginTable } from '../relay/origin-key.ts'
import { NoProxyList } from './no-proxy.ts'

/** The options that come before the variables. */
export interface ProxyEnvironmentOptions {
  /** Proxy for http: and ws: URLs; without `httpsProxy`, for all. Empty for none. Default: `http_proxy`. */
  httpProxy?: string | URL | null | undefined
  /** Proxy for https: and wss: URLs. Empty for none. Default: `https_proxy`. */
  httpsProxy?: string | URL | null | undefined
  /** Hosts that are reached directly. Default: `no_proxy`. */
  noProxy?: string | null | undefined
}

/** The proxy for a URL, and what decided it. */
export interface ProxyDecision {
  /** The URL of the proxy with its user info; null for a direct connection. */
  readonly proxy: string | null
  /** The option or variable that decided, with the entry of a NO_PROXY list. Never the URL of a proxy. */
  readonly rule: string
}

/** As in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

type Kind = 'http' | 'https'

interface Setting {
  /** The option or the variable that it comes from. */
  readonly from: string
  readonly value: string
}

type OptionValues = Readonly<Record<keyof ProxyEnvironmentOptions, string | URL | null>>

const isUrl: Check = (value) => typeof value === 'string' || value instanceof URL

const OPTIONS: OptionTable<OptionValues> = {
  noProxy: option(null, isString, 'noProxy must be a string'),
  httpProxy: option(null, isUrl, 'httpProxy must be a string or a URL'),
  httpsProxy: option(null, isUrl, 'httpsProxy must be a string or a URL'),
}

const NOT_SET: ProxyDecision = { proxy: null, rule: 'no proxy is set' }

/** Reads the variables each time: programs change `process.env` while they run. */
export class ProxyEnvironment {
  readonly #options: OptionValues
  readonly #variables: Variables | null
  #listText = ''
  /** The entries of the list by origin. */
  #exceptions = exceptionsOf('')
  /** Those read last. */
  readonly #known: Record<Kind, string | null | undefined> = { http: undefined, https: undefined }
  /** Called when a proxy has changed since it was last read. */
  onChange: () => void = () => {}

  /** @param variables Default: those of the process, also when a program replaces `process.env`. */
  constructor(options: ProxyEnvironmentOptions = {}, variables: Variables | null = null) {
    this.#options = readOptions(OPTIONS, options)
    this.#variables = variables
  }

  /** The proxy for http: and ws: URLs, before exceptions. */
  get http(): ProxyDecision {
    return this.#notice('http', decisionOf(this.#http()))
  }

  /** The proxy for https: and wss: URLs, before exceptions. */
  get https(): ProxyDecision {
    const setting = this.#given('httpsProxy') ?? this.#read('https_proxy') ?? this.#read('HTTPS_PROXY')
    return this.#notice('https', decisionOf(setting ?? this.#http()))
  }

  /** The option or variable with the first entry that applies to the origin; null if none does. */
  exception(origin: string): string | null {
    const setting = this.#given('noProxy') ?? this.#read('no_proxy') ?? this.#read('NO_PROXY')
    if (setting === null) return null
    if (setting.value !== this.#listText) {
      this.#listText = setting.value
      this.#exceptions = exceptionsOf(setting.value)
    }
    const entry = this.#exceptions.get(origin)
    return entry === null ? null : `${setting.from}: ${entry}`
  }

  #notice(kind: Kind, decision: ProxyDecision): ProxyDecision {
    const before = this.#known[kind]
    this.#known[kind] = decision.proxy
    if (before !== undefined && before !== decision.proxy) this.onChange()
    return decision
  }

  #given(name: keyof OptionValues): Setting | null {
    const value = this.#options[name]
    return value === null ? null : { from: name, value: String(value) }
  }

  #http(): Setting | null {
    return this.#given('httpProxy') ?? this.#httpProxy() ?? this.#read('all_proxy') ?? this.#read('ALL_PROXY')
  }

  /**
   * A web server passes the header `Proxy` of a request to its CGI programs as HTTP_PROXY: anyone could
   * choose their proxy ("httpoxy", CVE-2016-5385). On Windows `http_proxy` names the same variable.
   */
  #httpProxy(): Setting | null {
    const lower = this.#read('http_proxy')
    if (lower !== null && process.platform !== 'win32') return lower
    const given = lower ?? this.#read('HTTP_PROXY')
    return given !== null && this.#read('REQUEST_METHOD')?.value ? null : given
  }

  /**
   * Only own properties count: `process.env` has the prototype of every object. Each look into it is a call
   * into the runtime, so it is made twice only if the prototype has the name.
   */
  #read(name: string): Setting | null {
    const variables = this.#variables ?? process.env
    const value = variables[name]
    if (value === undefined) return null
    const prototype: object | null = Object.getPrototypeOf(variables)
    if (prototype !== null && name in prototype && !Object.hasOwn(variables, name)) return null
    return { from: name, value }
  }
}

/** The proxy for an origin: ws: is treated as http:, and wss: as https:. */
export function proxyFor(origin: string, environment: ProxyEnvironment): ProxyDecision {
  const isSecure = origin.startsWith('https:') || origin.startsWith('wss:')
  const decision = isSecure ? environment.https : environment.http
  if (decision.proxy === null) return decision
  const rule = environment.exception(origin)
  return rule === null ? decision : { proxy: null, rule }
}

function exceptionsOf(text: string): OriginTable<string | null> {
  const list = new NoProxyList(text)
  return new OriginTable((origin) => list.match(parseUrl(origin)))
}

/** A value that is set and empty switches the proxy off. */
function decisionOf(setting: Setting | null): ProxyDecision {
  if (setting === null) return NOT_SET
  const value = setting.value.trim()
  if (value === '') return { proxy: null, rule: `${setting.from} is empty` }
  // Most tools take a host and a port for a proxy that speaks HTTP.
  return { proxy: value.includes('://') ? value : `http://${value}`, rule: setting.from }
}
