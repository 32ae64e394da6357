import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { buildConnector, Client } from 'undici'

const connector: buildConnector.connector = buildConnector({
  rejectUnauthorized: false,
  timeout: 100,
  maxCachedSessions: 1,
})
export const client = new Client('https://localhost', {
  connect(options, callback) {
    connector(options, (error, socket) => {
      if (error) callback(error, null)
      else if ((socket as TLSSocket).authorized) callback(null, socket)
      else callback(new Error('untrusted'), null)
    })
  },
})
export function dial(options: buildConnector.Options, callback: buildConnector.Callback): void {
  connector({ ...options, hostname: 'localhost', servername: 'a' }, callback)
}
export const own = new Client('http://localhost', { connect: dial })
export const options: buildConnector.BuildOptions = {
  allowH2: false,
  keepAlive: true,
  keepAliveInitialDelay: 1,
  timeout: 5,
}
export const over = (socket: Socket): Client =>
  new Client('http://localhost', { connect: (_options, callback) => callback(null, socket) })
