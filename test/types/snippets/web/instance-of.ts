import { FormData, fetch, Headers, Request, type RequestInfo, Response, WebSocket } from 'undici'

export function describe(value: unknown): string {
  if (value instanceof Response) return `${value.status} ${value.headers.get('a')}`
  if (value instanceof Request) return `${value.method} ${value.url}`
  if (value instanceof Headers) return value.getSetCookie().join()
  if (value instanceof FormData) return [...value.keys()].join()
  if (value instanceof WebSocket) return value.url
  return typeof value
}
export function url(input: RequestInfo): string {
  if (typeof input === 'string') return input
  if (input instanceof URL) return input.href
  return input.url
}
export async function failure(): Promise<Response | undefined> {
  const answer = await fetch('http://a.test').catch((error: unknown) => error)
  return answer instanceof Response ? answer : undefined
}
