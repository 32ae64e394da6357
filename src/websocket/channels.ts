/** Diagnostics channels under undici's names. Check `hasSubscribers` before building a message. */
import { type Channel, channel } from 'node:diagnostics_channel'
import type { Opened } from './opening-handshake.ts'

export const webSocketChannels: Readonly<
  Record<'open' | 'close' | 'socketError' | 'ping' | 'pong', Channel>
> = {
  open: channel('undici:websocket:open'),
  close: channel('undici:websocket:close'),
  socketError: channel('undici:websocket:socket_error'),
  ping: channel('undici:websocket:ping'),
  pong: channel('undici:websocket:pong'),
}

/** For messages that are cheap or rare. */
export function publish(to: Channel, message: object): void {
  if (to.hasSubscribers) to.publish(message)
}

/** Publishes that a connection is open. */
export function publishOpen(websocket: object, { socket, agreement, response }: Opened): void {
  if (!webSocketChannels.open.hasSubscribers) return
  const { address } = socket as { address?: unknown }
  webSocketChannels.open.publish({
    address: typeof address === 'function' ? Reflect.apply(address, socket, []) : null,
    protocol: agreement.protocol,
    extensions: agreement.extensions,
    websocket,
    handshakeResponse: response,
  })
}
