// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
// The types of vitest and jest for a mock of a function with several signatures.
import { Client, type Dispatcher, type fetch, MockAgent, Response, request } from 'undici'

type Procedure = (...words: any[]) => any
interface MockInstance<T extends Procedure = Procedure> {
  mockResolvedValue(value: Awaited<ReturnType<T>>): this
  mockResolvedValueOnce(value: Awaited<ReturnType<T>>): this
  mockRejectedValue(error: unknown): this
  mockReturnValue(value: ReturnType<T>): this
  mockImplementation(implementation: (...words: Parameters<T>) => ReturnType<T>): this
  mock: { calls: Parameters<T>[]; results: { value: ReturnType<T> }[] }
}
interface Mock<T extends Procedure = Procedure> extends MockInstance<T> {
  (...words: Parameters<T>): ReturnType<T>
}
type Mocked<T> = { [K in keyof T]: T[K] extends Procedure ? MockInstance<T[K]> & T[K] : T[K] } & T
declare function fn<T extends Procedure = Procedure>(implementation?: T): Mock<T>
declare function mocked<T extends Procedure>(value: T): MockInstance<T> & T
declare function mockedObject<T extends object>(value: T): Mocked<T>
declare function spyOn<T, K extends keyof T>(
  object: T,
  name: K,
): T[K] extends Procedure ? MockInstance<T[K]> : never

const data = {
  statusCode: 200,
  headers: {},
  body: { json: async () => ({}) },
} as unknown as Dispatcher.ResponseData
const client = new Client('http://localhost')

mocked(request).mockResolvedValue(data)
mocked(request).mockResolvedValueOnce(data).mockRejectedValue(new Error('no'))
mocked(request).mockImplementation(async (url, options) => {
  console.log(String(url), options?.method, options?.headers, options?.body)
  return data
})
spyOn(client, 'request').mockResolvedValue(data)
spyOn(client, 'request').mockImplementation(async (options) => (options.path === '/' ? data : data))
spyOn(client, 'dispatch').mockReturnValue(true)
spyOn(MockAgent.prototype, 'get').mockReturnValue(new MockAgent().get('http://localhost'))
mockedObject(client).request.mockResolvedValue(data)
mockedObject(client).close.mockResolvedValue(undefined)

export const requests = fn<typeof request>().mockResolvedValue(data)
export const fetches = fn<typeof fetch>().mockResolvedValue(new Response('x'))
export const asFetch: typeof fetch = fetches
export const asked: string[] = fetches.mock.calls.map(([input, init]) => `${init?.method} ${String(input)}`)
export const paths: string[] = spyOn(client, 'request').mock.calls.map(([options]) => options.path)
export const double = { request: fn() } as unknown as Dispatcher
export const loose: Partial<Dispatcher> = { request: fn(), close: fn(), dispatch: fn() }
export const typed: Pick<Dispatcher, 'request'> = {
  request: fn<Dispatcher['request']>() as Dispatcher['request'],
}
