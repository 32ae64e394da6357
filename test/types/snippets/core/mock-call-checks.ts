import { MockAgent } from 'undici'

const agent = new MockAgent({ enableCallHistory: true, acceptNonStandardSearchParameters: true })
const history = agent.getCallHistory()
export const first = history?.firstCall()?.toMap().get('path')
export const calls = history
  ?.filterCalls({ method: 'POST', path: /a/ }, { operator: 'AND' })
  .map(({ body, headers }) => [body, headers?.['a']])
export const nth: string | undefined = history?.nthCall(2)?.fullUrl
export const texts: string[] = [...(history ?? [])].map((call) => call.toString())
agent.clearCallHistory()
agent.enableCallHistory().disableCallHistory()
