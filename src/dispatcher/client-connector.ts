/**
 * From the options of a client to the function that opens its connections (contract: connect.md 7).
 */
import type { Origin } from '../base/origin.ts'
import { buildClientConnector, type ConnectTarget } from '../net/connector.ts'
import type { ClientSettings, ConnectFunction } from './client-options.ts'

/** Connectors that {@link shareConnector} made: what they report is not a caller's own. */
const shared = new WeakSet<object>()

/** A connector for many clients, which thereby share their TLS sessions: given to each as `connect`. */
export function shareConnector(settings: ClientSettings): ConnectFunction {
  if (typeof settings.connect === 'function') return settings.connect
  const connector = connectorFor(settings)
  shared.add(connector)
  return connector
}

/** Whether connections are opened by a function of the caller, whose errors are passed on as they are. */
export function isForeignConnector({ connect }: ClientSettings): boolean {
  return typeof connect === 'function' && !shared.has(connect)
}

export function connectorFor(settings: ClientSettings): ConnectFunction {
  const { connect, tls, socketPath } = settings
  if (typeof connect === 'function') {
    if (shared.has(connect)) return connect
    return (options, callback) =>
      connect(
        {
          ...options,
          ...(socketPath === null ? null : { socketPath }),
          ...(settings.allowH2Given ? { allowH2: settings.allowH2 } : null),
        },
        callback,
      )
  }
  const { autoSelectFamily, autoSelectFamilyAttemptTimeout } = settings
  return buildClientConnector({
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
  })
}

/** What a connector is told of where to go. */
export function connectTarget(
  { host, hostname, protocol, port }: Origin,
  servername: string | null,
  localAddress: string | null,
): Required<Omit<ConnectTarget, 'httpSocket'>> {
  return { host, hostname, protocol, port, servername, localAddress }
}
