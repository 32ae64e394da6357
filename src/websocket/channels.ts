/** Publishers under undici's names (contract: diagnostics-and-debug.md 1). Ask `hasSubscribers` first. */
import { type Channel, channel } from 'node:diagnostics_channel'

export const webSocketChannels: {
  readonly open: Channel
  readonly close: Channel
  readonly socketError: Channel
  readonly ping: Channel
  readonly pong: Channel
} = {
  open: channel('undici:websocket:open'),
  close: channel('undici:websocket:close'),
  socketError: channel('undici:websocket:socket_error'),
  ping: channel('undici:websocket:ping'),
  pong: channel('undici:websocket:pong'),
}
