// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
import { Client, type Dispatcher } from 'undici'

const client = new Client('http://localhost')
client.request = async () => ({}) as any
client.request = () => Promise.resolve({ statusCode: 200 } as any)
client.close = async () => {}
client.destroy = async () => {}
client.dispatch = () => true
export const double: Pick<Dispatcher, 'request'> = { request: async () => null as any }
