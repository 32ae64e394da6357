// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
import { type Mock, mock } from 'node:test'
import * as undici from 'undici'

type FetchFn = typeof undici.fetch
export const stub: FetchFn = async (_i, _o) => new undici.Response('x', { status: 200, headers: { a: 'b' } })
export const stub2 = mock.fn<FetchFn>(async () => undici.Response.json({ a: 1 }))
export const typed: Mock<FetchFn> = stub2
export const call: Parameters<FetchFn> | undefined = stub2.mock.calls[0]?.arguments
interface JestLike<F extends (...a: any[]) => any> {
  (...a: Parameters<F>): ReturnType<F>
  mockResolvedValue(v: Awaited<ReturnType<F>>): this
  mockImplementation(f: (...a: Parameters<F>) => ReturnType<F>): this
}
declare function jestFn<F extends (...a: any[]) => any>(): JestLike<F>
export const j = jestFn<FetchFn>().mockResolvedValue({
  ok: true,
  status: 200,
  json: async () => ({}),
} as undici.Response)
export const k: FetchFn = jestFn<FetchFn>().mockImplementation(
  async (u, o) => new undici.Response(`${String(u)} ${o?.method}`),
)
export const partial = { ok: true, json: () => Promise.resolve({ a: 1 }) } as unknown as undici.Response
export const r = jestFn<typeof undici.request>().mockResolvedValue({
  statusCode: 200,
  headers: {},
  body: { json: async () => ({}) },
} as unknown as undici.Dispatcher.ResponseData)
export const partialData: Partial<undici.Dispatcher.ResponseData> = {
  statusCode: 200,
  headers: {},
  trailers: {},
  opaque: null,
  context: {},
}
const d: Pick<undici.Dispatcher, 'request'> = {
  request: (async () =>
    ({ statusCode: 200 }) as undici.Dispatcher.ResponseData) as unknown as undici.Dispatcher['request'],
}

export { d }

mock.method(undici.Agent.prototype, 'dispatch', () => true)
