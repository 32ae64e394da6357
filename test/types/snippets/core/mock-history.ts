import { MockAgent } from 'undici'

const agent = new MockAgent({ enableCallHistory: true })
agent.enableCallHistory().clearCallHistory()
const history = agent.getCallHistory()
export const firstPath: string | undefined = history?.firstCall()?.path
export const posts = history?.filterCalls({ method: 'POST', path: '/a' }, { operator: 'AND' })
export const some = history?.filterCalls((log) => log.path === '/a')
export const byMethod = history?.filterCallsByMethod('GET')
export const nth = history?.nthCall(1)?.toMap()
for (const log of history ?? []) console.log(log.method, log.origin, log.headers, log.searchParams?.a)
