/**
 * The options of a client, as a table: the default of each, its check, and the message when the check fails.
 */
import type { Duplex } from 'node:stream'
import { loadNet } from '../base/node/lazy-modules.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BuildConnectorOptions, ConnectTarget } from '../net/connector.ts'
import { OF_CLIENTS } from '../option-advice.ts'
import { OptionNames } from '../option-names.ts'
import {
  type Check,
  finiteAbove,
  finiteFrom,
  integerFrom,
  isAnything,
  isBoolean,
  isFunction,
  isObject,
  isString,
  type Option,
  type OptionTable,
  option,
  ownOptions,
  readOption,
  readOptions,
} from '../options.ts'
import type { EventSourceOptions } from './event-source-options.ts'
import { type Http2Choices, type Http2Options, readHttp2Options } from './http2-options.ts'
import { runtimeHeaderSize } from './runtime-header-size.ts'
import type { WebSocketOptions } from './websocket-options.ts'

/**
 * A caller's function that opens connections: calls back with an error, or with null and a connected socket.
 * Its return value is ignored.
 */
export type ConnectFunction = (
  options: ConnectTarget & { socketPath?: string; allowH2?: boolean },
  callback: (error: Error | null | undefined, socket?: Duplex | null) => void,
) => unknown

/** Options of `Client`, and of everything that makes clients. */
export interface ClientOptions {
  /** Milliseconds between two pieces of a response body; 0 for no limit. Default: 300 000. */
  bodyTimeout?: number | null | undefined
  /**
   * Milliseconds for which the source of a request body may have nothing to send; 0 for no limit. Default: 0.
   */
  requestBodyTimeout?: number | null | undefined
  /**
   * Milliseconds for which a body with `expectContinue` waits for the word of the server; 0 for as long as for
   * a response head. Default: 1000.
   */
  expectContinueTimeout?: number | null | undefined
  /** Milliseconds for a complete response head once the request is out; 0 for no limit. Default: 300 000. */
  headersTimeout?: number | null | undefined
  /** Milliseconds an idle connection is kept. Default: 4 000. */
  keepAliveTimeout?: number | null | undefined
  /** The longest a server's hint may keep an idle connection, in milliseconds. Default: 600 000. */
  keepAliveMaxTimeout?: number | null | undefined
  /** Milliseconds subtracted from a server's hint. Default: 2 000. */
  keepAliveTimeoutThreshold?: number | null | undefined
  /** Most bytes of a head, in either direction. Default: the runtime's setting, 16384. */
  maxHeaderSize?: number | null | undefined
  /** Most bytes of a response body; -1 for no limit. Default: -1. */
  maxResponseSize?: number | null | undefined
  /** Requests in flight on an HTTP/1.1 connection; 0 closes the connection after each. Default: 1. */
  pipelining?: number | null | undefined
  /** How connections are opened: options for them, or a function that opens them. */
  connect?: BuildConnectorOptions | ConnectFunction | undefined
  /** Milliseconds to connect; 0 for no limit. `connect.timeout` wins. Default: 10 000. */
  connectTimeout?: number | null | undefined
  /** Refuse a request whose content-length is not the length of its body. Default: true. */
  strictContentLength?: boolean | null | undefined
  /** Requests after which a connection is replaced; 0 for no limit. Default: 0. */
  maxRequestsPerClient?: number | null | undefined
  /** Unix domain socket or Windows named pipe. */
  socketPath?: string | null | undefined
  /** Local IP address to connect from. */
  localAddress?: string | null | undefined
  /** true races the addresses of a host, false tries only the first. Default: a second for each, in turn. */
  autoSelectFamily?: boolean | null | undefined
  /** Milliseconds before a race starts the next address. Default: 250. */
  autoSelectFamilyAttemptTimeout?: number | null | undefined
  /** TLS sessions kept for resumption; 0 for none. Default: 100. */
  maxCachedSessions?: number | null | undefined
  /** Offer HTTP/2 in the TLS handshake. Default: true. */
  allowH2?: boolean | null | undefined
  /** Speak HTTP/2 on cleartext connections. Default: false. */
  useH2c?: boolean | null | undefined
  /** HTTP/2 streams in flight until the server sets its limit. Default: 100. */
  maxConcurrentStreams?: number | null | undefined
  /** HTTP/2 receive window of a stream in bytes. Default: 262144. */
  initialWindowSize?: number | null | undefined
  /** HTTP/2 receive window of a connection in bytes. Default: 524288, or `initialWindowSize` if that is greater. */
  connectionWindowSize?: number | null | undefined
  /** Milliseconds between HTTP/2 PING frames; 0 for none. Default: 60 000. */
  pingInterval?: number | null | undefined
  /** The options of HTTP/2 under one name; each wins over the flat one. */
  h2Options?: Http2Options | null | undefined
  /** Limits for WebSocket connections made through this client. */
  webSocket?: WebSocketOptions | null | undefined
  /** The limit for event streams received through this client. */
  eventSource?: EventSourceOptions | null | undefined
  /** Older name for `connect`, which wins. */
  tls?: BuildConnectorOptions | null | undefined
}

/** Read in `http2-options.ts`, and by the dispatcher itself. */
type ReadElsewhere = keyof Http2Choices | 'h2Options' | 'webSocket' | 'eventSource'
type OptionName = Exclude<keyof ClientOptions, ReadElsewhere>
type TableName = Exclude<OptionName, 'maxCachedSessions'>

/** Null when not given; all others have a default. */
type WithoutDefault =
  | 'connect'
  | 'socketPath'
  | 'localAddress'
  | 'autoSelectFamily'
  | 'autoSelectFamilyAttemptTimeout'
  | 'tls'

type OptionValues = {
  readonly [N in OptionName]: NonNullable<ClientOptions[N]> | (N extends WithoutDefault ? null : never)
}

/** All options, checked and filled in. */
export interface ClientSettings extends OptionValues, Http2Choices {
  /** Whether `allowH2` was given: a connect function gets it only then. */
  readonly allowH2Given: boolean
}

const RETIRED: readonly (readonly [name: string, instead: string])[] = [
  ['keepAlive', 'pipelining=0'],
  ['socketTimeout', 'headersTimeout & bodyTimeout'],
  ['requestTimeout', 'headersTimeout & bodyTimeout'],
  ['idleTimeout', 'keepAliveTimeout'],
  ['maxKeepAliveTimeout', 'keepAliveMaxTimeout'],
  // If it were ignored, connections could go anywhere.
  ['guard', 'connect.guard'],
]

/** Constant while the process runs. */
const RUNTIME_HEADER_SIZE = runtimeHeaderSize()

const isAddress: Check = (value) => typeof value === 'string' && loadNet().isIP(value) !== 0

/** Also of those that make clients. */
export const CONNECT: Option<BuildConnectorOptions | ConnectFunction | null> = option(
  null,
  (value) => isFunction(value) || isObject(value),
  'connect must be a function or an object',
)

const OPTIONS: OptionTable<Pick<OptionValues, TableName>> = {
  maxHeaderSize: option(RUNTIME_HEADER_SIZE, integerFrom(1)),
  socketPath: option(null, isString),
  connectTimeout: option(10e3, finiteFrom(0)),
  keepAliveTimeout: option(4e3, finiteAbove(0)),
  keepAliveMaxTimeout: option(600e3, finiteAbove(0)),
  keepAliveTimeoutThreshold: option(2e3, Number.isFinite),
  headersTimeout: option(300e3, integerFrom(0), 'headersTimeout must be a positive integer or zero'),
  bodyTimeout: option(300e3, integerFrom(0), 'bodyTimeout must be a positive integer or zero'),
  requestBodyTimeout: option(0, integerFrom(0), 'requestBodyTimeout must be a positive integer or zero'),
  // As curl waits; a server that has anything to say about the head says it sooner.
  expectContinueTimeout: option(
    1000,
    integerFrom(0),
    'expectContinueTimeout must be a positive integer or zero',
  ),
  connect: CONNECT,
  maxRequestsPerClient: option(0, integerFrom(0), 'maxRequestsPerClient must be a positive number'),
  localAddress: option(null, isAddress, 'localAddress must be valid string IP address'),
  maxResponseSize: option(-1, integerFrom(-1), 'maxResponseSize must be a positive number'),
  autoSelectFamilyAttemptTimeout: option(
    null,
    integerFrom(-1),
    'autoSelectFamilyAttemptTimeout must be a positive number',
  ),
  allowH2: option(true, isBoolean, 'allowH2 must be a valid boolean value'),
  pipelining: option(1, isAnything),
  strictContentLength: option(true, isAnything),
  autoSelectFamily: option(null, isAnything),
  tls: option(null, isAnything),
}

/** With those of what makes clients: they are read before, and what is left comes here. */
const NAMES = new OptionNames(
  'a client, pool or agent',
  {
    ...OPTIONS,
    ...{ maxCachedSessions: 1, useH2c: 1, maxConcurrentStreams: 1, initialWindowSize: 1 },
    ...{ connectionWindowSize: 1, pingInterval: 1, h2Options: 1, webSocket: 1, eventSource: 1 },
    ...{ connections: 1, factory: 1, clientTtl: 1, maxOrigins: 1, maxWeightPerServer: 1, errorPenalty: 1 },
    ...{ proxyTls: 1, requestTls: 1, proxyTunnel: 1, proxyKeepAlive: 1, onProxyResponse: 1 },
    ...{ clientFactory: 1, httpProxy: 1, httpsProxy: 1, noProxy: 1, enableCallHistory: 1 },
  },
  OF_CLIENTS,
)

/** Checked last, after the options of HTTP/2. */
const CACHED_SESSIONS: Option<number> = option(
  100,
  integerFrom(0),
  'maxCachedSessions must be a positive integer or zero',
)

export function readClientOptions(options: ClientOptions): ClientSettings {
  const own = ownOptions(Object(options) as ClientOptions) as Readonly<Record<string, unknown>>
  for (const [name, instead] of RETIRED) {
    if (own[name] !== undefined) {
      throw new InvalidArgumentError(`unsupported ${name}, use ${instead} instead`)
    }
  }
  const values = readOptions(OPTIONS, own, NAMES)
  const { connect, allowH2, strictContentLength, autoSelectFamily } = values
  const http2 = readHttp2Options(own, allowH2)
  // Neither a wrong number nor the cache itself matters where the caller opens the connections.
  const maxCachedSessions =
    typeof connect === 'function'
      ? 0
      : readOption('maxCachedSessions', own['maxCachedSessions'], CACHED_SESSIONS)
  return {
    ...values,
    ...http2,
    maxCachedSessions,
    strictContentLength: strictContentLength !== false,
    autoSelectFamily: typeof autoSelectFamily === 'boolean' ? autoSelectFamily : null,
    allowH2Given: typeof own['allowH2'] === 'boolean',
  }
}
