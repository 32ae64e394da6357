// A fetch that tests replace.
import { fetch, Response } from 'undici'

type Fetch = typeof fetch
export const stub: Fetch = async (input, init) => {
  const method = init?.method ?? 'GET'
  return new Response(`${method} ${String(input)}`, { status: 200 })
}
const calls: Parameters<Fetch>[] = []
export const spy: Fetch = (...words) => {
  calls.push(words)
  return fetch(...words)
}
export const api = { fetch }
api.fetch = stub
