import type undiciDefault from 'undici'
import * as undici from 'undici'

export type Library = typeof undici
export type Default = typeof undiciDefault
export const pick = (library: Pick<Library, 'request' | 'fetch' | 'Agent'>): undici.Dispatcher =>
  new library.Agent()
export const own = pick(undici)
export const late = async (): Promise<undici.Dispatcher> => {
  const { Agent, setGlobalDispatcher } = await import('undici')
  const agent = new Agent()
  setGlobalDispatcher(agent)
  return agent
}
