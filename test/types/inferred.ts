// Types inferred from signatures are those of the promise form, and options can be modified. Compiled, never run.
import { promisify } from 'node:util'
import type {
  Agent,
  BalancedPool,
  BuildConnectorOptions,
  Client,
  ConnectData,
  ConnectOptions,
  Cookie,
  connect,
  Dispatcher,
  DispatchOptions,
  DumpOptions,
  H2CClient,
  Pool,
  RequestInit,
  RequestOptions,
  ResponseData,
  RoundRobinPool,
  request,
  Socks5ProxyAgent,
  StreamData,
  StreamOptions,
  stream,
  UpgradeData,
  UpgradeOptions,
  UrlParts,
  upgrade,
  WebSocketInit,
  WithUrl,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

// Overloads: tools that infer see the last one.

type Methods = Dispatcher | Client | Pool | Agent
type Result<T extends keyof Dispatcher> = Methods[T] extends (...args: never[]) => infer R ? R : never
export const results: [
  Equal<Result<'request'>, Promise<ResponseData<unknown>>>,
  Equal<Result<'stream'>, Promise<StreamData<unknown>>>,
  Equal<Result<'connect'>, Promise<ConnectData<unknown>>>,
  Equal<Result<'upgrade'>, Promise<UpgradeData<unknown>>>,
  Equal<Result<'close'>, Promise<void>>,
  Equal<Result<'destroy'>, Promise<void>>,
  Equal<ReturnType<typeof request>, Promise<ResponseData<unknown>>>,
  Equal<ReturnType<typeof stream>, Promise<StreamData<unknown>>>,
  Equal<ReturnType<typeof connect>, Promise<ConnectData<unknown>>>,
  Equal<ReturnType<typeof upgrade>, Promise<UpgradeData<unknown>>>,
  Equal<Parameters<Dispatcher['request']>['length'], 1>,
  Equal<Parameters<Dispatcher['stream']>['length'], 2>,
  Equal<Parameters<Dispatcher['close']>['length'], 0>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true]

/** Like the types of a mocked function. */
type Mocked<T extends (...args: never[]) => unknown> = (
  implementation: (...args: Parameters<T>) => ReturnType<T>,
) => void
export function mocks(mockRequest: Mocked<typeof request>, mockClose: Mocked<Client['close']>): void {
  mockRequest(async (_url, options) => {
    void options?.headers
    return { statusCode: 200 } as ResponseData<unknown>
  })
  mockClose(async () => {})
}
export const wrapped: Promise<void> = promisify((done: (error: Error | null) => void) => done(null))()

/** Like a class that wraps a client. */
export class Holder {
  readonly client!: Client
  async close(): Promise<void> {
    return this.client.close()
  }
  destroy(error: Error | null): Promise<void> {
    return this.client.destroy(error)
  }
}

// Options: nothing is read-only.

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type IsMutable<T> = Equal<{ [K in keyof T]: T[K] }, Mutable<T>>
export const mutable: [
  IsMutable<Client.Options>,
  IsMutable<Client.H2Options>,
  IsMutable<Client.SocketInfo>,
  IsMutable<Client.WebSocketOptions>,
  IsMutable<H2CClient.Options>,
  IsMutable<Pool.Options>,
  IsMutable<RoundRobinPool.Options>,
  IsMutable<BalancedPool.Options>,
  IsMutable<Agent.Options>,
  IsMutable<Agent.DispatchOptions>,
  IsMutable<Socks5ProxyAgent.Options>,
  IsMutable<DispatchOptions>,
  IsMutable<RequestOptions>,
  IsMutable<StreamOptions>,
  IsMutable<Dispatcher.PipelineOptions>,
  IsMutable<ConnectOptions>,
  IsMutable<UpgradeOptions>,
  IsMutable<DumpOptions>,
  IsMutable<WithUrl<RequestOptions>>,
  IsMutable<UrlParts>,
  IsMutable<RequestInit>,
  IsMutable<WebSocketInit>,
  IsMutable<BuildConnectorOptions>,
  IsMutable<Cookie>,
  IsMutable<Pool.PoolStats>,
  IsMutable<Client['stats']>,
] = [
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
  true,
]
