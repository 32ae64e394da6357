/**
 * What all clients of one origin share, be it one or the members of a pool: where they connect to, how, and
 * what they remember of responses so far.
 */

import type { Origin } from '../../base/address/origin.ts'
import { serverNameOf } from '../../base/address/server-name.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import type { Http2Settings } from '../../connection/connection.ts'
import { HeadParsers } from '../../connection/http1/connection.ts'
import { OriginStreams } from '../../connection/http2/origin-streams.ts'
import { FieldsMemory } from '../../request/request-fields.ts'
import type { RequestContext } from '../../request/request-spec.ts'
import {
  connectorFor,
  type DetailedConnector,
  isForeignConnector,
  presentedName,
} from '../client-connector.ts'
import type { ClientOptions, ClientSettings } from '../client-options.ts'
import type { EventSourceOptions } from '../event-source-options.ts'
import type { ConnectionLimit } from '../places/connection-limit.ts'
import { OriginPlaces } from '../places/origin-places.ts'
import type { WebSocketOptions } from '../websocket-options.ts'
import type { LastEnd } from './last-end.ts'

/** What the dispatcher keeps for the features above it. */
type StreamLimits = Pick<ClientOptions, 'webSocket' | 'eventSource'>

export class OriginContext {
  readonly origin: Origin
  readonly settings: ClientSettings & Http2Settings
  readonly webSocket: WebSocketOptions | null
  readonly eventSource: EventSourceOptions | null
  readonly requestContext: RequestContext
  /** The TLS server name of requests that ask for none; null if a caller's function chooses it. */
  readonly serverName: string | null
  readonly connector: DetailedConnector
  /** The connector is the caller's, whose errors are passed on untouched. */
  readonly isForeign: boolean
  readonly headParsers: HeadParsers
  /** Null if their connections are not counted together with those to other origins. */
  readonly places: OriginPlaces | null
  /** What is known of the streams that the origin takes. */
  readonly streams: OriginStreams = new OriginStreams()
  /** How the latest of the connections that are gone has ended, or could not be opened. */
  lastEnd: LastEnd | null = null

  constructor(
    origin: Origin,
    settings: ClientSettings,
    limits: StreamLimits,
    connections: ConnectionLimit | null,
  ) {
    this.origin = origin
    this.settings = { ...settings, authority: origin.host }
    const { webSocket, eventSource } = ownMembers(limits)
    this.webSocket = webSocket ?? null
    this.eventSource = eventSource ?? null
    this.requestContext = {
      origin: origin.origin,
      protocol: origin.protocol,
      fields: new FieldsMemory(),
      maxResponseSize: settings.maxResponseSize,
    }
    this.connector = connectorFor(settings)
    this.isForeign = isForeignConnector(settings)
    this.serverName = this.isForeign ? null : presentedName(settings) || serverNameOf(origin.host)
    this.headParsers = new HeadParsers(this.settings)
    this.places = connections === null ? null : new OriginPlaces(connections)
  }

  /** The protocol that is spoken whatever is negotiated; undefined where that decides. */
  get knownVersion(): 'h2' | undefined {
    return this.settings.useH2c && this.origin.protocol === 'http:' ? 'h2' : undefined
  }
}
