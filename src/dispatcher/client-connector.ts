/**
 * From the options of a client to the function that opens its connections.
 */
import type { Origin } from '../base/origin.ts'
import {
  type BuildConnectorOptions,
  buildClientConnector,
  buildSharedConnector,
  type ConnectTarget,
} from '../net/connector.ts'
import type { ClientSettings, ConnectFunction } from './client-options.ts'

/**
 * Connectors that {@link shareConnector} made, with what a client of ours calls instead: what they report is not a
 * caller's own. A factory may give them to a client of another make, or of another copy of the library, which
 * must get a socket that emits `data`.
 */
const shared = new WeakMap<object, ConnectFunction>()

/** A connector for many clients, which thereby share their TLS sessions: given to each as `connect`. */
export function shareConnector(settings: ClientSettings): ConnectFunction {
  const { connect } = settings
  if (typeof connect === 'function') return connect
  const { forClients, forOthers } = buildSharedConnector(connectorOptions(settings, connect))
  shared.set(forOthers, forClients)
  return forOthers
}

/** Whether connections are opened by a function of the caller, whose errors are passed on as they are. */
export function isForeignConnector({ connect }: ClientSettings): boolean {
  return typeof connect === 'function' && !shared.has(connect)
}

export function connectorFor(settings: ClientSettings): ConnectFunction {
  const { connect, socketPath } = settings
  if (typeof connect !== 'function') return buildClientConnector(connectorOptions(settings, connect))
  const own = shared.get(connect)
  if (own !== undefined) return own
  return (options, callback) =>
    connect(
      {
        // Always there, so that a function may take it apart without asking.
        httpSocket: undefined,
        ...options,
        ...(socketPath === null ? null : { socketPath }),
        ...(settings.allowH2Given ? { allowH2: settings.allowH2 } : null),
      },
      callback,
    )
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
