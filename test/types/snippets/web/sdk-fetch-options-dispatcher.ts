// The constructor of an SDK that passes options on to the runtime's fetch.
import { ProxyAgent } from 'undici'

type MergedRequestInit = Omit<RequestInit, 'body' | 'headers' | 'method' | 'signal'>
interface ClientOptions {
  fetchOptions?: MergedRequestInit | undefined
}
class Client {
  constructor(readonly options: ClientOptions) {}
}
export const client = new Client({ fetchOptions: { dispatcher: new ProxyAgent('http://proxy.test:8080') } })
