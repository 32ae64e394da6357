import { fetch, Headers, Request, type RequestInit } from 'undici'

type Init = Parameters<typeof fetch>[1]
type Fetch = typeof fetch
export const b = (i: Init) => new Request('http://x', i)
export const f = (i: Init): AbortSignal | null | undefined => i?.signal
export const g = (i: Init): Init => ({ ...i, headers: { ...(i?.headers as Record<string, string>), a: 'b' } })
export const h: Fetch = async (input, init) => {
  const hs = new Headers(init?.headers)
  init?.signal?.throwIfAborted()
  init?.signal?.addEventListener('abort', () => {})
  return fetch(input, {
    ...init,
    headers: hs,
    signal: AbortSignal.any([...(init?.signal ? [init.signal] : []), AbortSignal.timeout(1)]),
  })
}
export const j: Fetch = (input, init) => {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
  return fetch(url, init)
}
export const k = (...[input, init]: Parameters<Fetch>) => fetch(new Request(input, init))
export const l: Fetch = (input, init = {}) => {
  init.method ??= 'POST'
  init.headers = new Headers(init.headers)
  return fetch(input, init)
}
export interface Sdk {
  fetch?: (input: string | URL | Request, init?: RequestInit) => ReturnType<Fetch>
}
export const m: Sdk = { fetch }
