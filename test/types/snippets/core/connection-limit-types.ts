// A dispatcher for a vector database, shared by the runtime's fetch.
import { Agent } from 'undici'

declare global {
  interface RequestInit {
    shared?: Agent | undefined
  }
}
export const createDispatcher = (connections: number = 25): Agent =>
  new Agent({ connections, bodyTimeout: 300_000, headersTimeout: 300_000, keepAliveTimeout: 10_000 })
export const send = (url: string): Promise<unknown> =>
  globalThis.fetch(url, { method: 'POST', shared: createDispatcher() } as globalThis.RequestInit)
