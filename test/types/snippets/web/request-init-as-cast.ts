import { Agent, fetch, type RequestInit } from 'undici'

export const get = (extra: Record<string, unknown>) =>
  fetch('http://a.test', { ...extra, dispatcher: new Agent() } as RequestInit)
export const partial = { method: 'GET' } satisfies RequestInit
export const frozen = { method: 'GET', redirect: 'error' } as const satisfies RequestInit
