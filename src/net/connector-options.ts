/**
 * Owns the options of connectors: their types, defaults and checks. The runtime checks those that are only
 * passed on to it.
 */
import type { LookupFunction, OnReadOpts } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { type Guard, readGuard } from '../guard/guard.ts'
import type { GuardOptions, GuardPolicy } from '../guard/options.ts'
import { OptionNames } from '../option-names.ts'
import {
  type Check,
  integerFrom,
  isAnything,
  isFunction,
  type OptionTable,
  option,
  ownOptions,
  readOptions,
} from '../options.ts'
import { PreferredFamilies } from './preferred-families.ts'
import { TlsMaterial } from './tls-material.ts'

type MaterialOption<N extends 'secureContext' | 'cert' | 'key' | 'ca'> =
  | ConnectionOptions[N]
  | (() => ConnectionOptions[N])

/** Options of `buildConnector`. Others are passed on to `net.connect` / `tls.connect`. */
export interface BuildConnectorOptions
  extends Omit<
    ConnectionOptions,
    | 'host'
    | 'port'
    | 'path'
    | 'socket'
    | 'timeout'
    | 'session'
    | 'servername'
    | 'ALPNProtocols'
    | 'secureContext'
    | 'cert'
    | 'key'
    | 'ca'
  > {
  /** What `tls.createSecureContext` has made; a function is asked for each new connection. */
  secureContext?: MaterialOption<'secureContext'>
  /** Certificates of the client; a function is asked for each new connection. */
  cert?: MaterialOption<'cert'>
  /** Their keys; a function is asked for each new connection. */
  key?: MaterialOption<'key'>
  /** Authorities to trust; a function is asked for each new connection. */
  ca?: MaterialOption<'ca'>
  /**
   * A file to which the secrets of TLS connections are appended, so that captured packets can be read: for
   * debugging. Default: none.
   */
  keylog?: string | null | undefined
  /** Offer HTTP/2 in the TLS handshake. Default: true. */
  allowH2?: boolean | null | undefined
  /** Offer HTTP/2 before HTTP/1.1. Default: false. */
  preferH2?: boolean | null | undefined
  /** Speak HTTP/2 over plain sockets. Default: false. */
  useH2c?: boolean | null | undefined
  /** How many TLS sessions are kept for resumption, 0 for none. Default: 100. */
  maxCachedSessions?: number | null | undefined
  /** Unix domain socket or Windows named pipe to connect to instead of host and port. */
  socketPath?: string | null | undefined
  /** The same under the name that `net.connect` has for it; it goes before `socketPath`. */
  path?: string | null | undefined
  /** Without effect: the host is that of the URL. */
  host?: string | undefined
  /** Without effect: the port is that of the URL. */
  port?: number | undefined
  /** Without effect: small writes are never delayed. */
  noDelay?: boolean | undefined
  /** Milliseconds within which the connection must be up, 0 for no limit. Default: 10 000. */
  timeout?: number | null | undefined
  /** A TLS session to resume always, instead of cached ones. */
  session?: Buffer | null | undefined
  /** TLS server name when the call gives none. Default: the host. */
  servername?: string | null | undefined
  /** TCP keep-alive. Default: true. */
  keepAlive?: boolean | null | undefined
  /** Milliseconds of silence before the first TCP keep-alive probe. Default: 60 000. */
  keepAliveInitialDelay?: number | null | undefined
  /**
   * true: race the addresses of a host (RFC 8305); false: only the first one. Default: one after another, the
   * next when the one before has failed, or after a second.
   */
  autoSelectFamily?: boolean | undefined
  /** Milliseconds a race waits for one address before it starts the next, too. Default: 250. */
  autoSelectFamilyAttemptTimeout?: number | undefined
  /** Bytes a socket holds unread. Default: 65536, with TLS 16384. */
  highWaterMark?: number | undefined
  /** Local IP address to connect from. */
  localAddress?: string | undefined
  /** Local port to connect from. */
  localPort?: number | undefined
  /** 4 or 6 for addresses of one family only. Default: 0, both. */
  family?: number | undefined
  /** Where connections may go: `'public-only'`, `'any'`, or options. Default: anywhere. */
  guard?: GuardPolicy | GuardOptions | null | undefined
  /** Flags for the resolver, as in `dns.lookup`. */
  hints?: number | undefined
  /** Reads into a buffer of the caller, as in `net.connect`. */
  onread?: OnReadOpts | undefined
  /** Destroys the sockets when it aborts. */
  signal?: AbortSignal | undefined
  /** IP type of service, 0–255, where the runtime can set it. */
  typeOfService?: number | undefined
}

/** Milliseconds to connect. */
export const DEFAULT_TIMEOUT = 10e3

/** Options handed to the runtime. Without a prototype, so that only properties set here can be read. */
export type SocketOptions = Record<string, unknown>

export interface ConnectorSettings {
  /** Null for a stream of bytes that is not HTTP. */
  readonly alpn: readonly string[] | null
  readonly useH2c: boolean
  readonly socketPath: string | undefined
  readonly timeout: number
  readonly session: Buffer | null
  readonly servername: string | null
  readonly keepAlive: boolean
  readonly keepAliveInitialDelay: number
  readonly lookup: LookupFunction | null
  readonly autoSelectFamily: unknown
  readonly autoSelectFamilyAttemptTimeout: number
  readonly localAddress: unknown
  readonly guard: Guard | null
  readonly material: TlsMaterial
  /** The file for TLS secrets; null for none. */
  readonly keylog: string | null
  readonly families: PreferredFamilies
  /** Null for the runtime's. */
  readonly checkServerIdentity: NonNullable<ConnectionOptions['checkServerIdentity']> | null
  readonly pskCallback: NonNullable<ConnectionOptions['pskCallback']> | null
  readonly passedOn: SocketOptions
}

interface Given extends Omit<ConnectorSettings, 'alpn' | 'guard' | 'material' | 'families' | 'passedOn'> {
  readonly maxCachedSessions: number
  readonly allowH2: boolean
  readonly preferH2: boolean
  readonly path: string | undefined
  readonly guard: BuildConnectorOptions['guard']
}

/** TLS sessions that one connector keeps. */
const DEFAULT_CACHED_SESSIONS = 100

const isPath: Check = (value) => typeof value === 'string' && value !== ''

/** Those that are not passed on. */
const OPTIONS: OptionTable<Given> = {
  maxCachedSessions: option(
    DEFAULT_CACHED_SESSIONS,
    integerFrom(0),
    'maxCachedSessions must be a positive integer or zero',
  ),
  lookup: option(null, isFunction, 'lookup must be a function'),
  checkServerIdentity: option(null, isFunction, 'checkServerIdentity must be a function'),
  pskCallback: option(null, isFunction, 'pskCallback must be a function'),
  allowH2: option(true, isAnything),
  preferH2: option(false, isAnything),
  useH2c: option(false, isAnything),
  socketPath: option(undefined, isAnything),
  path: option(undefined, isAnything),
  timeout: option(DEFAULT_TIMEOUT, isAnything),
  session: option(null, isAnything),
  keylog: option(null, isPath, 'keylog must be the path of a file'),
  servername: option(null, isAnything),
  keepAlive: option(true, isAnything),
  keepAliveInitialDelay: option(60e3, isAnything),
  autoSelectFamily: option(undefined, isAnything),
  // RFC 8305 §5 recommends this delay between attempts.
  autoSelectFamilyAttemptTimeout: option(250, isAnything),
  localAddress: option(undefined, isAnything),
  guard: option(null, isAnything),
}

/** With those of the runtime that are used most: a letter too many in one of them may cost the security. */
const NAMES = new OptionNames('connect', {
  ...OPTIONS,
  ...{ ca: 1, cert: 1, key: 1, pfx: 1, passphrase: 1, rejectUnauthorized: 1, ciphers: 1, minVersion: 1 },
  ...{ maxVersion: 1, secureContext: 1, secureProtocol: 1, secureOptions: 1, sigalgs: 1, ecdhCurve: 1 },
  ...{ crl: 1, dhparam: 1, minDHSize: 1, family: 1, hints: 1, localPort: 1, noDelay: 1, onread: 1 },
  ...{ signal: 1, typeOfService: 1, highWaterMark: 1, host: 1, port: 1, honorCipherOrder: 1 },
  ...{ sessionIdContext: 1, requestCert: 1, requestOCSP: 1, privateKeyEngine: 1, ALPNProtocols: 1 },
  ...{ allowHalfOpen: 1, blockList: 1, readable: 1, writable: 1, enableTrace: 1, ticketKeys: 1 },
})

/** Only own properties count. Throws for a wrong one. */
export function readConnectorOptions(options: BuildConnectorOptions): ConnectorSettings {
  const own = ownOptions(Object(options) as BuildConnectorOptions)
  const { allowH2, preferH2, path, guard, ...values } = readOptions(OPTIONS, own, NAMES)
  const passedOn = Object.fromEntries(Object.entries(own).filter(([name]) => !Object.hasOwn(OPTIONS, name)))
  return {
    ...values,
    alpn: alpnOffer(allowH2, preferH2),
    socketPath: path ?? values.socketPath,
    servername: values.servername || null,
    guard: readGuard(guard),
    material: new TlsMaterial(passedOn, values.maxCachedSessions),
    families: new PreferredFamilies(),
    passedOn,
  }
}

function alpnOffer(allowH2: boolean, preferH2: boolean): readonly string[] {
  if (!allowH2) return ['http/1.1']
  return preferH2 ? ['h2', 'http/1.1'] : ['http/1.1', 'h2']
}
