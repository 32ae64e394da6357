// The constructor of an SDK that takes a fetch and the options of each call.
import { Agent, fetch } from 'undici'

interface ClientOptions {
  baseURL?: string
  fetch?: typeof globalThis.fetch | undefined
}
class Client {
  constructor(readonly options: ClientOptions) {}
}
const dispatcher = new Agent({ connections: 8 })
export const client = new Client({
  baseURL: 'http://a.test',
  fetch: (input, init) => fetch(input as string, { ...(init as object), dispatcher }) as never,
})
