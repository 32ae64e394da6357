// What one library returns, in functions written for the other.
import { type Client, type Dispatcher, request } from 'undici'
import type * as undici from 'undici8'

export const response = async (): Promise<undici.Dispatcher.ResponseData> => await request('http://localhost')
export const tunnel = async (client: Client): Promise<undici.Dispatcher.ConnectData> =>
  await client.connect({ path: 'a:80' })
export const upgraded = async (client: Client): Promise<undici.Dispatcher.UpgradeData> =>
  await client.upgrade({ path: '/' })
export async function read(data: undici.Dispatcher.ResponseData): Promise<unknown> {
  return data.statusCode === 204 ? null : await data.body.json()
}
export const both = async (dispatcher: Dispatcher): Promise<unknown> =>
  await read(await dispatcher.request({ origin: 'http://localhost', path: '/', method: 'GET' }))
