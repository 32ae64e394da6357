/**
 * What a client has for itself, and what the clients of a pool have in common: where they go, how, and what they have
 * seen so far.
 */
import type { Origin } from '../base/origin.ts'
import { serverNameOf } from '../base/server-name.ts'
import type { Http2Settings } from '../connection/connection.ts'
import { HeadParsers } from '../connection/http1-connection.ts'
import { FieldsMemory } from '../request/fields-memory.ts'
import type { RequestSetting } from '../request/request-terms.ts'
import { connectorFor, isForeignConnector } from './client-connector.ts'
import type { ClientSettings, ConnectFunction } from './client-options.ts'
import type { WebSocketOptions } from './lifecycle.ts'

export class ClientCommons {
  readonly origin: Origin
  readonly settings: ClientSettings & Http2Settings
  readonly webSocket: WebSocketOptions | null
  /** What is the same for all requests. */
  readonly requestSetting: RequestSetting
  /** Asked for by requests that name no server. */
  readonly serverName: string
  readonly connector: ConnectFunction
  /** The connector is a caller's own, whose errors are passed on as they are. */
  readonly isForeign: boolean
  readonly headParsers: HeadParsers

  constructor(origin: Origin, settings: ClientSettings, webSocket: WebSocketOptions | null) {
    this.origin = origin
    this.settings = { ...settings, authority: origin.authority }
    this.webSocket = webSocket
    this.requestSetting = {
      origin: origin.origin,
      protocol: origin.protocol,
      fields: new FieldsMemory(),
      maxResponseSize: settings.maxResponseSize,
    }
    this.serverName = serverNameOf(origin.host)
    this.connector = connectorFor(settings)
    this.isForeign = isForeignConnector(settings)
    this.headParsers = new HeadParsers(this.settings)
  }
}
