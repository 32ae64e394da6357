/** A proxy that opens tunnels, and a client that uses it. */
import { buildConnector, Client, type ClientOptions, type ConnectFunction } from '../../src/index.ts'
import { TRUST } from './certificate-files.ts'
import type { Stage } from './stage.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

export interface ForwardProxy {
  readonly name: string
  /** Null if it is not installed. */
  readonly program: string | null
  /** Returns its origin. It opens tunnels only for these credentials. */
  start(stage: Stage, credentials: Credentials): Promise<string>
}

export const proxyAuthorization = ({ name, password }: Credentials): Record<string, string> => ({
  'proxy-authorization': `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

/** The error of a caller for a proxy that refuses. */
export class TunnelRefused extends Error {
  readonly statusCode: number

  constructor(statusCode: number) {
    super(`the proxy answered ${statusCode}`)
    this.statusCode = statusCode
  }
}

/** Opens connections by CONNECT through the proxy, with TLS inside. */
function throughTunnel(proxy: Client, headers: Record<string, string>, allowH2: boolean): ConnectFunction {
  const secure = buildConnector({ ...TRUST, allowH2 })
  return (target, callback) => {
    const path = `${target.hostname}:${target.port}`
    proxy.connect({ path, headers }).then(
      ({ statusCode, socket }) => {
        if (statusCode !== 200) {
          socket.destroy()
          callback(new TunnelRefused(statusCode), null)
          return
        }
        secure({ ...target, httpSocket: socket }, callback)
      },
      (error: Error) => callback(error, null),
    )
  }
}

export function tunnelClient(
  origin: string,
  proxy: Client,
  headers: Record<string, string>,
  { allowH2 = true }: Pick<ClientOptions, 'allowH2'> = {},
): Client {
  return new Client(origin, { connect: throughTunnel(proxy, headers, allowH2 ?? true) })
}
