import { Headers } from 'undici'

export const headers = new Headers([...new Map([['a', 'b']])] as [string, string][])
export const global = new Headers([...new globalThis.Headers()] as [string, string][])
