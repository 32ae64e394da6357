// Handlers that are passed on between sockets.
import type { CloseEvent, ErrorEvent, MessageEvent, WebSocket } from 'undici'

export function move(from: WebSocket, to: WebSocket): void {
  to.onopen = from.onopen
  to.onmessage = from.onmessage
  to.onclose = from.onclose
  to.onerror = from.onerror
}
export interface Handlers {
  message(this: WebSocket, event: MessageEvent): void
  close(this: WebSocket, event: CloseEvent): void
  error(this: WebSocket, event: ErrorEvent): void
}
export const use = (socket: WebSocket, { message, close, error }: Handlers): void => {
  socket.onmessage = message
  socket.onclose = close
  socket.onerror = error
}
