// The options of a wrapper, taken from `fetch`, are the exported type, and the other way round.
import { fetch, type RequestInfo, type RequestInit } from 'undici'

type Init = NonNullable<Parameters<typeof fetch>[1]>
type Input = Parameters<typeof fetch>[0]

export const exported = (init: Init): RequestInit => init
export const own = (init: RequestInit): Init => init
export const input = (value: Input): RequestInfo => value
export const own2 = (value: RequestInfo): Input => value
export const maybe = (init?: Parameters<typeof fetch>[1]): RequestInit | undefined => init
export const wrapped: typeof fetch = (value, init) => send(value, { ...init, headers: { a: 'b' } })

async function send(value: RequestInfo, init: RequestInit) {
  return await fetch(value, init)
}
