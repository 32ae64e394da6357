// SDKs that name the runtime's `RequestInit`.
import { Agent, ProxyAgent } from 'undici'

type FetchOptions = NonNullable<Parameters<typeof globalThis.fetch>[1]>
interface SdkOptions {
  fetchOptions?: FetchOptions
}
export const options: SdkOptions[] = [
  { fetchOptions: { dispatcher: new Agent({ keepAliveTimeout: 10 }) } as FetchOptions },
  { fetchOptions: { dispatcher: new ProxyAgent('http://localhost:8080') } as FetchOptions },
]
