/** A connector that remembers the sockets it opened: only they have the result of the TLS negotiation. */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { type BuildConnectorOptions, buildConnector, type ConnectFunction } from '../../src/index.ts'

export interface Agreement {
  readonly version: string | null
  readonly protocol: string | false | null
  readonly resumed: boolean
}

export class WatchedConnector {
  readonly sockets: Socket[] = []
  /** The TLS connections, in the order in which they were ready. */
  readonly agreements: Agreement[] = []
  /** The library holds them weakly; these tests must not depend on garbage collection. */
  readonly sessions: Buffer[] = []
  readonly connect: ConnectFunction

  constructor(options: BuildConnectorOptions) {
    const connector = buildConnector(options)
    this.connect = (target, callback) => {
      const socket = connector(target, callback)
      this.sockets.push(socket)
      socket.on('session', (session: Buffer) => this.sessions.push(session))
      socket.on('secureConnect', () => {
        if (!(socket instanceof TLSSocket)) return
        this.agreements.push({
          version: socket.getProtocol(),
          protocol: socket.alpnProtocol,
          resumed: socket.isSessionReused(),
        })
      })
    }
  }
}
