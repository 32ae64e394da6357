/** The one place that chooses between the protocols. */
import type { Duplex } from 'node:stream'
import type { Connection, ConnectionOwner } from '../../connection/connection.ts'
import { Http1Connection } from '../../connection/http1/connection.ts'
import { Http2Connection } from '../../connection/http2/connection.ts'
import type { SlabInlet } from '../../net/slab-inlet.ts'
import { type OnGone, StreamTransport } from '../../net/stream-transport.ts'
import type { ConnectTimes } from '../../request/connection-facts.ts'
import type { OriginContext } from './origin-context.ts'

export function openConnection(
  socket: Duplex,
  inlet: SlabInlet | null,
  times: ConnectTimes,
  owner: ConnectionOwner,
  { settings, headParsers, streams, knownVersion }: OriginContext,
  onGone: OnGone,
): Connection {
  const transport = new StreamTransport(socket, inlet, onGone)
  const { alpnProtocol } = socket as { alpnProtocol?: unknown }
  return alpnProtocol === 'h2' || knownVersion === 'h2'
    ? new Http2Connection(transport, owner, settings, times, streams)
    : new Http1Connection(transport, owner, settings, times, headParsers)
}
