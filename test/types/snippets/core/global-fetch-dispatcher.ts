// The dispatchers as an option of the runtime's `fetch`, in the ways that programs write it.
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  EnvHttpProxyAgent,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
} from 'undici'

const origin = 'http://localhost:3000'
export const cast = await1(() => globalThis.fetch(origin, { dispatcher: new Agent() } as RequestInit))
export const dispatchers: Dispatcher[] = [
  new Agent({ connections: 2 }),
  new Pool(origin),
  new BalancedPool([origin]),
  new Client(origin),
  new ProxyAgent('http://localhost:8080'),
  new EnvHttpProxyAgent(),
  new MockAgent(),
  new RetryAgent(new Agent()),
]

function await1<T>(call: () => Promise<T>): () => Promise<T> {
  return call
}
