// The constructor of an SDK with options for each fetch, as generated clients have it.
import { Agent, EnvHttpProxyAgent, type fetch, ProxyAgent, type RequestInit, type Response } from 'undici'

type Fetch = (
  url: string | URL | globalThis.Request,
  init?: globalThis.RequestInit,
) => Promise<globalThis.Response>
interface ClientOptions {
  fetch?: Fetch | undefined
  fetchOptions?: RequestInit | undefined
  timeout?: number | undefined
}
declare class Sdk {
  constructor(options: ClientOptions)
}
export const sdks = [
  new Sdk({ fetchOptions: { dispatcher: new ProxyAgent('http://localhost:8888') } }),
  new Sdk({ fetchOptions: { dispatcher: new EnvHttpProxyAgent(), keepalive: true } }),
  new Sdk({ fetchOptions: { dispatcher: new Agent({ connect: { timeout: 5_000 }, headersTimeout: 0 }) } }),
]
export const call = async (send: typeof fetch, init: RequestInit): Promise<Response> =>
  send('http://localhost', { ...init, headers: { ...(init.headers as Record<string, string>), a: 'b' } })
