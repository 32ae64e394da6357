import { fetch, type HeadersInit, type RequestInit } from 'undici'

interface JsonInit extends Omit<RequestInit, 'body' | 'headers'> {
  json?: unknown
  headers?: HeadersInit
}
export async function send<T>(url: string, { json, headers, ...rest }: JsonInit = {}): Promise<T> {
  const init: RequestInit = { ...rest, headers: { 'content-type': 'application/json' } }
  if (json !== undefined) init.body = JSON.stringify(json)
  if (headers !== undefined) init.headers = headers
  const response = await fetch(url, init)
  if (!response.ok)
    throw new Error(`${response.status} ${response.statusText} ${response.headers.get('x-id') ?? ''}`)
  return (await response.json()) as T
}
export const withTimeout = (url: string, init?: RequestInit) =>
  fetch(url, { signal: AbortSignal.timeout(1), ...init })
