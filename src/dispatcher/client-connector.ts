/**
 * From the options of a client to the function that opens its connections.
 */
import type { Origin } from '../base/address/origin.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { ConnectDetails } from '../net/connect-details.ts'
import { type BuildConnectorOptions, buildClientConnector, type ConnectTarget } from '../net/connector.ts'
import type { ClientSettings, ConnectFunction } from './client-options.ts'

/**
 * Connectors of the library: their errors are not a caller's own. Each with the server name that it presents
 * where a request asks for none, null for the origin's.
 */
const shared = new WeakMap<object, string | null>()

/** For a connector of another layer of the library: the one to use instead where HTTP/2 is not wanted. */
const withoutHttp2 = new WeakMap<object, ConnectFunction>()

/**
 * Makes a connector one of the library's own, whose errors get the context of requests: for the layers above,
 * which give it to dispatchers as `connect`. It comes in two versions, because one function cannot know what
 * a dispatcher wants to offer.
 *
 * @param servername what both present where a request asks for none; null for the origin's
 */
export function ownConnector(
  any: DetailedConnector,
  http1: DetailedConnector,
  servername: string | null = null,
): ConnectFunction {
  shared.set(any, servername)
  shared.set(http1, servername)
  withoutHttp2.set(any, http1)
  return any
}

/** A connector for many clients, which thereby share their TLS sessions: given to each as `connect`. */
export function shareConnector(settings: ClientSettings): ConnectFunction {
  const { connect } = settings
  if (typeof connect === 'function') {
    checkForeign(settings)
    return wantedVersion(connect, settings)
  }
  const options = connectorOptions(settings, connect)
  const connector = buildClientConnector(options)
  shared.set(connector, ownMembers(options).servername || null)
  return connector
}

/** The server name of a connector of the library where a request asks for none; null for the origin's. */
export function presentedName(settings: ClientSettings): string | null {
  const { connect } = settings
  if (typeof connect === 'function') return shared.get(connect) ?? null
  return ownMembers(connectorOptions(settings, connect)).servername || null
}

/** Whether connections are opened by a function of the caller, whose errors are passed on as they are. */
export function isForeignConnector({ connect }: ClientSettings): boolean {
  return typeof connect === 'function' && !shared.has(connect)
}

/** A function of the caller opens what it likes: a guard would have no effect on it. */
function checkForeign(settings: ClientSettings): void {
  if (!isForeignConnector(settings) || !settings.tls?.guard) return
  throw new InvalidArgumentError('a guard cannot be used with a connect function')
}

/** How a client calls a connector; one of a caller leaves the details as they are. */
export type DetailedConnector = (
  ...args: [...Parameters<ConnectFunction>, details?: ConnectDetails]
) => unknown

export function connectorFor(settings: ClientSettings): DetailedConnector {
  const { connect, socketPath } = settings
  if (typeof connect !== 'function') return buildClientConnector(connectorOptions(settings, connect))
  if (shared.has(connect)) return wantedVersion(connect, settings)
  checkForeign(settings)
  return (options, callback) =>
    connect(
      {
        // Always there, so that a function need not check whether it is.
        httpSocket: undefined,
        ...options,
        ...(socketPath === null ? null : { socketPath }),
        ...(settings.allowH2Given ? { allowH2: settings.allowH2 } : null),
      },
      callback,
    )
}

function wantedVersion(connect: ConnectFunction, { allowH2 }: ClientSettings): ConnectFunction {
  return allowH2 ? connect : (withoutHttp2.get(connect) ?? connect)
}

function connectorOptions(
  settings: ClientSettings,
  connect: BuildConnectorOptions | null,
): BuildConnectorOptions {
  const { tls, socketPath, autoSelectFamily, autoSelectFamilyAttemptTimeout } = settings
  return {
    ...tls,
    maxCachedSessions: settings.maxCachedSessions,
    allowH2: settings.allowH2,
    useH2c: settings.useH2c,
    socketPath,
    timeout: settings.connectTimeout,
    ...(autoSelectFamily === null
      ? null
      : {
          autoSelectFamily,
          autoSelectFamilyAttemptTimeout: autoSelectFamilyAttemptTimeout ?? undefined,
        }),
    ...connect,
  }
}

/** Where to connect to, as a connector gets it. */
export function connectTarget(
  { host, hostname, protocol, port }: Origin,
  servername: string | null,
  localAddress: string | null,
): Required<Omit<ConnectTarget, 'httpSocket'>> {
  return { host, hostname, protocol, port, servername, localAddress }
}
