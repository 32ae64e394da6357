/** `ventuno/websocket`: WebSocket, WebSocketStream and their events. */

export type { CloseEventInit, ErrorEventInit, MessageEventInit } from './web/events.ts'
export { CloseEvent, ErrorEvent, MessageEvent } from './web/events.ts'
export type { BinaryType, WebSocketEventMap } from './websocket/declared-web-socket.ts'
export type { WebSocketInit } from './websocket/socket-init.ts'
export { ping, WebSocket } from './websocket/websocket.ts'
export type { WebSocketCloseInfo, WebSocketErrorInit } from './websocket/websocket-error.ts'
export { WebSocketError } from './websocket/websocket-error.ts'
export type {
  WebSocketChunk,
  WebSocketClosure,
  WebSocketConnectionInfo,
  WebSocketStreamOptions,
} from './websocket/websocket-stream.ts'
export { WebSocketStream } from './websocket/websocket-stream.ts'
