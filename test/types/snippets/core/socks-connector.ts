// A package that connects through proxies of its own.
import { Agent, buildConnector } from 'undici'

import Connector = buildConnector.connector
import TLSOptions = buildConnector.BuildOptions

export interface TunnelOptions extends Agent.Options {
  connect?: TLSOptions
}
export function tunnelConnector(host: string, tlsOptions: TLSOptions = {}): Connector {
  const underneath = buildConnector(tlsOptions)
  return (options, callback) => {
    if (options.protocol !== 'https:') return underneath({ ...options, hostname: host }, callback)
    underneath({ ...options, servername: options.hostname }, (error, socket) => {
      if (error !== null) callback(error, null)
      else callback(null, socket.setNoDelay())
    })
  }
}
export function tunnelDispatcher(host: string, options: TunnelOptions = {}): Agent {
  const { connect, ...rest } = options
  return new Agent({ ...rest, connect: tunnelConnector(host, connect) })
}
