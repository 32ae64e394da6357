import {
  type connect,
  type Dispatcher,
  fetch,
  type pipeline,
  type RequestInit,
  type Response,
  request,
  type stream,
  type upgrade,
} from 'undici'
export type R1 = Awaited<ReturnType<typeof request>>
export type R2 = Awaited<ReturnType<Dispatcher['request']>>
export type Init = Parameters<typeof fetch>[1]
export type Input = Parameters<typeof fetch>[0]
export type Opts = NonNullable<Parameters<typeof request>[1]>
export type Url = Parameters<typeof request>[0]
export type Body = Dispatcher.ResponseData['body']
export type S = Awaited<ReturnType<typeof stream>>
export type C = Awaited<ReturnType<typeof connect>>
export type U = Awaited<ReturnType<typeof upgrade>>
export type P = ReturnType<typeof pipeline>
export const a = async (u: Url, o: Opts): Promise<R1> => request(u, { ...o, method: 'PUT' })
export const b = async (d: Dispatcher, o: Parameters<Dispatcher['request']>[0]): Promise<R2> => d.request(o)
export const c = async (i: Input, o?: Init): Promise<Awaited<ReturnType<typeof fetch>>> => fetch(i, o)
export const d = (i: Init): RequestInit => ({ method: 'POST', signal: i?.signal ?? null })
export const e = (b: Body): Promise<string> => b.text()
export const f = (s: S, c: C, u: U, p: P): unknown[] => [s.trailers, c.socket.destroy(), u.headers, p.end()]
export const g: R1['headers']['x'] = ['a']
export const h = (r: R1): r is R1 & { statusCode: 200 } => r.statusCode === 200
export type Handlers = {
  [K in keyof Dispatcher.DispatchHandler]-?: NonNullable<Dispatcher.DispatchHandler[K]>
}
export const k: keyof Dispatcher.DispatchHandler = 'onResponseData'
export const m = (r: Response) => r satisfies Awaited<ReturnType<typeof fetch>>
