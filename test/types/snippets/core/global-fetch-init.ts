// Without a cast. `RequestInit` of the runtime comes from the version of undici-types that `@types/node` names.
import { Agent, Client, EnvHttpProxyAgent, MockAgent, Pool, ProxyAgent } from 'undici'

export const agent = (): Promise<unknown> => globalThis.fetch('http://localhost', { dispatcher: new Agent() })
export const pool = (): Promise<unknown> =>
  globalThis.fetch('http://localhost', { dispatcher: new Pool('http://localhost') })
export const client = (): Promise<unknown> =>
  globalThis.fetch('http://localhost', { dispatcher: new Client('http://localhost') })
export const proxy = (): Promise<unknown> =>
  globalThis.fetch('http://localhost', { dispatcher: new ProxyAgent({ uri: 'http://localhost:8080' }) })
export const env = (): Promise<unknown> =>
  globalThis.fetch('http://localhost', { dispatcher: new EnvHttpProxyAgent() })
export const mock = (): Promise<unknown> =>
  globalThis.fetch('http://localhost', { dispatcher: new MockAgent() })
