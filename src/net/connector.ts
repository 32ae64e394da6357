/**
 * Owns `buildConnector`: opens TCP, TLS and IPC sockets. `address-attempts.ts` decides how many
 * addresses are tried and gives the single answer. It must not know HTTP; it only offers protocols (ALPN, RFC
 * 7301).
 *
 * `net.connect` and `tls.connect` are called through their module objects, and only own properties of the
 * options are read: stubs are seen, a polluted `Object.prototype` is not.
 */

import type { LookupFunction, NetConnectOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { ipFamily } from '../base/address/ip-address.ts'
import { asciiHost, serverNameOf, withoutBrackets } from '../base/address/server-name.ts'
import { inCall } from '../base/error/public-call.ts'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'
import { loadFs, loadNet, loadTls } from '../base/node/lazy-modules.ts'
import { coverPollution } from '../base/object/own-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import { blockedError, type Refusal } from '../guard/guard.ts'
import { AddressAttempts, type AddressPolicy, type AttemptCallback } from './address-attempts.ts'
import { lookupOf, settledLookup } from './addresses.ts'
import type { ConnectDetails } from './connect-details.ts'
import {
  type BuildConnectorOptions,
  type ConnectorSettings,
  readConnectorOptions,
  type SocketOptions,
} from './connector-options.ts'
import { guardedLookup } from './guarded-lookup.ts'
import { containedPsk, IdentityCheck } from './identity-check.ts'
import { SlabInlet } from './slab-inlet.ts'
import { keepSessions, sessionKey, type TlsSessionCache } from './tls-session-cache.ts'

export type { BuildConnectorOptions }

/** Where one connection goes. */
export interface ConnectorOptions {
  /** Host name or IP literal. */
  hostname: string
  /** Host with port, as in a URL; the TLS server name comes from it if none is given. */
  host?: string | null | undefined
  /** `https:` for TLS, anything else for a plain socket. */
  protocol: string
  /** Empty for the default port. */
  port?: string | number | null | undefined
  /** TLS server name. Default: from `host`. */
  servername?: string | null | undefined
  /** Local IP address to connect from. */
  localAddress?: string | null | undefined
  /** https only: an open connection, for example through a proxy, to put TLS on. */
  httpSocket?: Duplex | null | undefined
}

/** Where one connection of a client goes: the argument of a function given as `connect`. */
export interface ConnectTarget extends ConnectorOptions {
  /** Empty for the default port. */
  port: string
}

/**
 * Called once: with an error alone, or with null and the connected socket. Typed with a null beside the
 * error, as callbacks written for undici are.
 */
export type ConnectorCallback = (
  ...args: [error: null, socket: Socket | TLSSocket] | [error: Error, socket: null]
) => void

/**
 * Opens a connection. The socket is returned at once, still connecting; use the one given to the callback: it
 * is another one if the first address of the host could not be reached.
 */
export type Connector = (options: ConnectorOptions, callback: ConnectorCallback) => Socket | TLSSocket

/** Plain sockets read in larger pieces than TLS, whose records end at 16 KiB (RFC 8446 §5.1). */
const PLAIN_HIGH_WATER_MARK = 65_536
const TLS_HIGH_WATER_MARK = 16_384

/** Options with defaults in the runtime, which it looks up past `Object.prototype` itself. */
const RUNTIME_DEFAULTS: ReadonlySet<string> = new Set(['ciphers', 'minDHSize', 'rejectUnauthorized'])

/** One call of a connector, checked. */
interface Target {
  readonly secure: boolean
  readonly hostname: string
  readonly port: string | number
  readonly servername: string | null
  readonly localAddress: unknown
  readonly httpSocket: Duplex | null
  /** What replaces the functions among the options of TLS. */
  readonly material: SocketOptions | null
  /** Those that belong to it. */
  readonly sessions: TlsSessionCache
}

/**
 * Makes a function that opens connections, with these options for all of them. TLS sessions are cached per
 * connector.
 *
 * @example
 * const connector = buildConnector({ rejectUnauthorized: false, timeout: 2000 })
 * connector({ hostname: 'localhost', protocol: 'https:', port: '8443' }, (error, socket) => { … })
 */
export function buildConnector(options?: BuildConnectorOptions | null): Connector {
  const settings = inCall(buildConnector, () => readConnectorOptions(options ?? {}))
  return (call, callback) => openConnection(settings, call, callback, null)
}

/** A connector for our own clients, which pass the last argument. */
export type ClientConnector = (
  options: ConnectorOptions,
  callback: ConnectorCallback,
  details?: ConnectDetails,
) => Socket | TLSSocket

export function buildClientConnector(options: BuildConnectorOptions): ClientConnector {
  const settings = readConnectorOptions(options)
  return (call, callback, details) => openConnection(settings, call, callback, details ?? null)
}

/**
 * A connector for what is not HTTP, such as the connection to a SOCKS proxy: it offers no protocol over TLS,
 * and its sockets emit `data` also for a caller that passes details. They may become those of a client: see
 * `reclaimInlet`.
 */
export function buildStreamConnector(options: BuildConnectorOptions): ClientConnector {
  const settings = { ...readConnectorOptions(options), alpn: null }
  return (call, callback, details) => openConnection(settings, call, callback, details ?? null)
}

function openConnection(
  settings: ConnectorSettings,
  call: ConnectorOptions,
  callback: ConnectorCallback,
  details: ConnectDetails | null,
): Socket {
  const target = readTarget(settings, call)
  if (target instanceof Error) return refuse(target, callback)
  const { hostname, port, secure } = target
  const { guard } = settings
  const refusal = refusalOf(settings, target)
  if (refusal !== null) return refuse(blockedError(refusal), callback)
  const resolver = guard === null ? settings.lookup : guardedLookup(guard, hostname, port, settings.lookup)
  // TLS on a connection that is open already reads from that; an `onread` of the caller reads for itself. In
  // Deno, TLS on top of a socket with `onread` never receives a byte, and any connection may become a tunnel.
  const hasInlets =
    details !== null &&
    process.versions['deno'] === undefined &&
    target.httpSocket === null &&
    settings.passedOn['onread'] === undefined
  const inlets = hasInlets ? new Map<Socket, SlabInlet>() : null
  // The second argument is left out beside an error: see ConnectorCallback.
  const deliver = callback as AttemptCallback
  try {
    return AddressAttempts.start(
      {
        hostname,
        port,
        policy: addressPolicy(settings, target),
        lookup: resolver,
        attemptDelay: settings.autoSelectFamilyAttemptTimeout,
        families: settings.families,
        timeout: settings.timeout,
        readyEvent: secure ? 'secureConnect' : 'connect',
        details,
        open: (lookup) => openSocket(settings, target, lookup ?? settledLookup(resolver), inlets),
      },
      (...answer) => {
        const inlet = inlets?.get(answer[1]!) ?? null
        if (settings.alpn === null) inlet?.release()
        else if (details !== null) details.inlet = inlet
        deliver(...answer)
      },
    )
  } catch (error) {
    return refuse(error as Error, callback)
  }
}

function readTarget(settings: ConnectorSettings, call: ConnectorOptions): Target | Error {
  const own: ConnectorOptions = Object.assign(Object.create(null), call)
  const secure = own.protocol === 'https:'
  if (own.httpSocket && !secure) throw new InvalidArgumentError('httpSocket is only for https')
  const given = own.hostname || 'localhost'
  const hostname = asciiHost(withoutBrackets(given))
  const wantedName = own.servername || settings.servername
  const servername = asciiHost(wantedName || (secure ? serverNameOf(own.host || given) : ''))
  if (hostname === null) return new InvalidArgumentError('invalid hostname')
  if (servername === null) return new InvalidArgumentError('invalid servername')
  const material = secure ? settings.material.ask() : null
  if (material instanceof Error) return material
  return {
    secure,
    hostname,
    port: own.port || (secure ? 443 : 80),
    servername: servername || null,
    localAddress: own.localAddress ?? settings.localAddress,
    httpSocket: own.httpSocket ?? null,
    material,
    sessions: settings.material.sessions,
  }
}

/**
 * All that can be refused before a name is resolved. Where a connection that is open leads to is known to its
 * owner only.
 */
function refusalOf({ guard, socketPath }: ConnectorSettings, target: Target): Refusal | null {
  const { hostname, port, httpSocket } = target
  if (guard === null) return null
  if (httpSocket !== null) return guard.refuseName(hostname, port)
  return socketPath === undefined ? guard.refuseHost(hostname, port) : guard.refuseSocketPath(socketPath)
}

/** Answers a connect that cannot start; like any other answer it comes after the call has returned. */
function refuse(error: Error, callback: ConnectorCallback): Socket {
  runtimeNextTick(callback, error)
  return new (loadNet().Socket)().destroy()
}

function addressPolicy(settings: ConnectorSettings, target: Target): AddressPolicy {
  const oneAddress =
    settings.autoSelectFamily === false ||
    settings.socketPath !== undefined ||
    target.httpSocket !== null ||
    ipFamily(target.hostname) !== 0
  if (oneAddress) return 'single'
  return settings.autoSelectFamily === true ? 'race' : 'sequence'
}

function openSocket(
  settings: ConnectorSettings,
  target: Target,
  lookup: LookupFunction | null,
  inlets: Map<Socket, SlabInlet> | null,
): Socket {
  const inlet = inlets === null ? null : new SlabInlet()
  const options = socketOptions(settings, target, lookup)
  if (inlet !== null) options['onread'] = inlet.options()
  const socket = target.secure
    ? openSecureSocket(settings, target, options)
    : openPlainSocket(settings, target, options)
  if (inlet !== null) {
    if (!inlet.bind(socket)) return openSocket(settings, target, lookup, null)
    inlets!.set(socket, inlet)
  }
  socket.setNoDelay(true)
  if (settings.keepAlive) socket.setKeepAlive(true, settings.keepAliveInitialDelay)
  return socket
}

function socketOptions(
  settings: ConnectorSettings,
  target: Target,
  lookup: LookupFunction | null,
): SocketOptions {
  const options: SocketOptions = Object.assign(Object.create(null), settings.passedOn)
  options['highWaterMark'] ??= target.secure ? TLS_HIGH_WATER_MARK : PLAIN_HIGH_WATER_MARK
  options['host'] = target.hostname
  options['port'] = target.port
  options['path'] = settings.socketPath
  options['localAddress'] = target.localAddress
  options['lookup'] = lookup ?? undefined
  // One socket tries one address: the runtime's own fallback ends attempts that are only slow.
  options['autoSelectFamily'] = false
  coverPollution(options, RUNTIME_DEFAULTS)
  return options
}

function openPlainSocket(settings: ConnectorSettings, target: Target, options: SocketOptions): Socket {
  const { hostname, servername } = target
  const family = ipFamily(hostname)
  if (family !== 0 && servername !== null && ipFamily(servername) === 0) {
    options['host'] = servername // Never a literal: the runtime would connect to that without a lookup.
    options['lookup'] = lookupOf({ address: hostname, family })
  }
  // The runtime checks the options itself; a type for "anything passed through" does not exist.
  const socket = loadNet().connect(options as unknown as NetConnectOpts)
  // Callers and the client read there which protocol to speak, as on a TLS socket.
  if (settings.useH2c) Object.assign(socket, { alpnProtocol: 'h2' })
  return socket
}

function openSecureSocket(settings: ConnectorSettings, target: Target, options: SocketOptions): TLSSocket {
  const { hostname, port, servername, httpSocket, sessions } = target
  const key = sessionKey(servername, hostname, port)
  Object.assign(options, target.material)
  options['socket'] = httpSocket ?? undefined
  options['servername'] = servername
  options['ALPNProtocols'] = settings.alpn ?? undefined
  const session = settings.session ?? sessions.get(key)
  options['session'] = session
  const check = new IdentityCheck(settings.checkServerIdentity)
  options['checkServerIdentity'] = check.run
  if (settings.pskCallback !== null) {
    options['pskCallback'] = containedPsk(settings.pskCallback, (error) => socket.destroy(error))
  }
  const socket: TLSSocket = loadTls().connect(options as unknown as ConnectionOptions)
  keepSessions(socket, sessions, key, check, session)
  if (settings.keylog !== null) logSecrets(socket, settings.keylog)
  return socket
}

/** For debuggers of packets. Only the owner of the process may read the file; one that cannot be written fails the connection. */
function logSecrets(socket: TLSSocket, file: string): void {
  socket.on('keylog', (line) => {
    try {
      loadFs().appendFileSync(file, line, { mode: 0o600 })
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
}

/** The types under the names that programs written for undici use. */
export declare namespace buildConnector {
  export type {
    BuildConnectorOptions as BuildOptions,
    ConnectorCallback as Callback,
    ConnectTarget as Options,
  }

  export type CallbackArgs = Parameters<ConnectorCallback>

  /** Opens a connection, and may return anything: only the callback counts. */
  export type connector = (options: ConnectTarget, callback: ConnectorCallback) => void
}
