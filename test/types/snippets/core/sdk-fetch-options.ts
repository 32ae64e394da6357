// SDKs take `fetchOptions`, which they merge into the init of every request.
import { Agent, type Dispatcher, ProxyAgent, type RequestInit as UndiciRequestInit } from 'undici'

interface SdkOptions {
  fetchOptions?: UndiciRequestInit
  dispatcher?: Dispatcher
}
class Sdk {
  constructor(readonly options: SdkOptions) {}
}
export const first = new Sdk({ fetchOptions: { dispatcher: new ProxyAgent('http://localhost:8080') } })
export const second = new Sdk({ dispatcher: new Agent({ connect: { rejectUnauthorized: false } }) })
