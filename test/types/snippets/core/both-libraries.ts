// Objects of undici where this package takes a dispatcher, and the other way round.
import { Agent, fetch, getGlobalDispatcher, Pool, request, setGlobalDispatcher } from 'undici'
import * as undici from 'undici8'

setGlobalDispatcher(new undici.Agent())
undici.setGlobalDispatcher(new Agent())
export const theirs: undici.Dispatcher = getGlobalDispatcher()
export const a = (): Promise<unknown> => request('http://localhost', { dispatcher: new undici.Agent() })
export const b = (): Promise<unknown> =>
  fetch('http://localhost', { dispatcher: new undici.Pool('http://localhost') })
export const c = (): Promise<unknown> => undici.request('http://localhost', { dispatcher: new Agent() })
export const d = (): Promise<unknown> =>
  undici.fetch('http://localhost', { dispatcher: new Pool('http://localhost') })
