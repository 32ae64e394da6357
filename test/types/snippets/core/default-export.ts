import undici, { type Agent } from 'undici'

const agent: Agent = new undici.Agent({ connections: 1 })
undici.setGlobalDispatcher(agent)
export const call = (): Promise<unknown> => undici.request('http://localhost')
export const fetched = (): Promise<unknown> => undici.fetch('http://localhost')
export const error = new undici.errors.UndiciError('x')
