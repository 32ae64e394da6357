// A test gives a dispatcher another `request`.
import { type Agent, Client, Dispatcher, MockAgent, Pool, type request } from 'undici'

declare const data: Dispatcher.ResponseData
const client = new Client('http://localhost')
const pool = new Pool('http://localhost')

export const cast = (async () => data) as Dispatcher['request']
export const castWithOptions = (async (_options: Dispatcher.RequestOptions) => data) as Dispatcher['request']
export const castOfFunction = (async () => data) as typeof request
export const castOfMember = (async () => data) as typeof client.request
export const ofOptions: { request: typeof request } = {
  request: async () => ({ ...data, opaque: null as never }),
}

export const partial = { request: async () => data } as Partial<Dispatcher> as Dispatcher
export const withClose = { request: async () => data, close: async () => {} } as unknown as Agent
export const picked = { request: cast } satisfies Pick<Dispatcher, 'request'>

pool.request = cast
client.request = castOfMember
client.request = (async () => data) as Client['request']
client.request = (async () => data) as never
Dispatcher.prototype.request = cast
MockAgent.prototype.request = cast
