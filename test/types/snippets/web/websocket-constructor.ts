// An option of libraries that take a WebSocket class, as reconnecting sockets and GraphQL clients do.
import { WebSocket } from 'undici'

interface Options {
  webSocketImpl: { new (url: string, protocols?: string | string[]): globalThis.WebSocket }
}
export const options: Options = { webSocketImpl: WebSocket }
