import { Headers, type HeadersInit } from 'undici'

const from: HeadersInit[] = [
  { a: 'b' },
  [['a', 'b']],
  new Headers(),
  new Headers().entries() as Iterable<[string, string]> as never,
]
export const all = from.map((init) => new Headers(init))
export const fromGlobal = new Headers(new globalThis.Headers() as never)
export const none = [new Headers(), new Headers(undefined)]
export const typed = (init: Record<string, string>): Headers => new Headers({ ...init, b: 'c' })
