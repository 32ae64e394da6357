import { Agent, type Dispatcher, fetch, Request, type RequestInfo, type RequestInit } from 'undici'

const dispatcher: Dispatcher = new Agent()
const init: RequestInit = {
  method: 'POST',
  body: 'x',
  headers: { a: 'b' },
  signal: AbortSignal.timeout(10),
  redirect: 'follow',
  credentials: 'include',
  mode: 'cors',
  cache: 'no-store',
  referrer: 'http://a.test',
  referrerPolicy: 'no-referrer',
  integrity: '',
  keepalive: true,
  duplex: 'half',
  window: null,
  dispatcher,
}
const request = new Request('http://a.test', init)
const inputs: RequestInfo[] = ['http://a.test', new URL('http://a.test'), request]
export const answers = inputs.map((input) => fetch(input, init))
export const copies = [new Request(request), new Request(request, { method: 'PUT' }), request.clone()]
export const parts: [string, string, string, boolean, AbortSignal] = [
  request.method,
  request.url,
  request.redirect,
  request.bodyUsed,
  request.signal,
]
init.signal = null
init.body = null
