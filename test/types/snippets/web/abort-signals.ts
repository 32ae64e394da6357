import { fetch, Request } from 'undici'

const controller = new AbortController()
const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(10)])
export const answer = fetch('http://a.test', { signal })
export const request = new Request('http://a.test', { signal })
request.signal.addEventListener('abort', () => void request.signal.reason)
