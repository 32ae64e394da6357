// The option of an OAuth client: a function like the runtime's fetch, whose arguments go to undici's.
import * as undici from 'undici'

const retryAgent = new undici.RetryAgent(new undici.Agent(), {
  statusCodes: [],
  errorCodes: ['ECONNRESET', 'ENOTFOUND'],
})
const options: { customFetch?: (...args: Parameters<typeof undici.fetch>) => Promise<undici.Response> } = {}
options.customFetch = (...args) => undici.fetch(args[0], { ...args[1], dispatcher: retryAgent })
options.customFetch = (url, init) =>
  undici.fetch(url, { ...init, dispatcher: new undici.Agent({ connect: { key: 'a', cert: 'b' } }) })
options.customFetch = async (...[url, init]) => {
  const response = await undici.fetch(url, init)
  return response.ok ? response : undici.Response.error()
}

export { options }
