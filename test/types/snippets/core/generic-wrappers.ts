import { type Agent, Dispatcher, type Pool, request } from 'undici'

type Method = 'GET' | 'POST'
interface Req<M extends Method, B> {
  method: M
  body: M extends 'POST' ? B : undefined
}
export async function call<M extends Method, B extends object, T>(
  url: string,
  r: Req<M, B>,
  opaque?: { id: string },
): Promise<{ data: T; id: string | undefined }> {
  const { body, opaque: o } = await request<{ id: string } | undefined>(url, {
    method: r.method,
    body: r.body ? JSON.stringify(r.body) : null,
    opaque,
  })
  return { data: (await body.json()) as T, id: o?.id }
}
export function request_<T = null>(
  d: Dispatcher,
  o: Dispatcher.RequestOptions<T>,
): Promise<Dispatcher.ResponseData<T>> {
  return d.request(o)
}
export function cb(d: Dispatcher, done: (e: Error | null, s?: number) => void) {
  d.request({ path: '/', method: 'GET', origin: 'x' }, (err, data) =>
    err ? done(err) : done(null, data.statusCode),
  )
  d.close(() => {})
  d.destroy(null, () => {})
  d.destroy(new Error('x')).then(() => {})
}
export const isDispatcher = (x: unknown): x is Dispatcher => x instanceof Dispatcher
export const opts: Partial<Pool.Options> & { pipelining: number } = { pipelining: 1, connections: null }
export const pick: Pick<Agent.Options, 'connect' | 'connections' | 'factory'> = { connections: 5 }
export const ro: Readonly<Dispatcher.DispatchOptions> = Object.freeze({ path: '/', method: 'GET' })
export const withSignal = <T extends { signal?: AbortSignal | null }>(t: T) =>
  request('x', { signal: t.signal ?? null })
export const hdrs: NonNullable<Dispatcher.DispatchOptions['headers']>[] = [
  { a: 'b', c: undefined, d: ['x'] },
  ['a', 'b'],
  new Map([['a', 'b']]),
  new Headers({ a: 'b' }),
]
