// The options of a proxy plugin: pool options, a proxy, or a dispatcher.
import { Agent, type Dispatcher, Pool, ProxyAgent, request } from 'undici'

export interface ProxyOptions {
  base?: string
  undici?:
    | boolean
    | (Pool.Options & { proxy?: string | ProxyAgent.Options })
    | { request: Dispatcher['request'] }
}
export function dispatcherOf({ base, undici }: ProxyOptions): Pick<Dispatcher, 'request'> {
  if (typeof undici === 'object' && 'request' in undici) return undici
  const options = typeof undici === 'object' ? undici : {}
  if (options.proxy) return new ProxyAgent(options.proxy)
  return base === undefined ? new Agent(options) : new Pool(base, options)
}
export async function forward(options: ProxyOptions, path: string): Promise<number> {
  const dispatcher = dispatcherOf(options)
  const answer = await dispatcher.request({
    origin: 'http://localhost',
    path,
    method: 'GET',
    headers: { a: ['b', 'c'] },
  })
  return answer.statusCode
}
export const custom: ProxyOptions = { undici: { request: new Agent().request } }
export const plain = request
export const pool = (options: Agent.Options): Pool => new Pool('http://localhost', options)
