// Types taken from the functions, as wrappers do.
import { type Dispatcher, request, type stream } from 'undici'

type Options = NonNullable<Parameters<typeof request>[1]>
type Result = Awaited<ReturnType<typeof request>>
export async function get(url: string | URL, options?: Options): Promise<Result> {
  return await request(url, options)
}
export async function withDefaults(
  url: string | URL,
  options?: { dispatcher?: Dispatcher } & Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> &
    Partial<Pick<Dispatcher.RequestOptions, 'method'>>,
): Promise<Dispatcher.ResponseData> {
  return await request(url, { ...options, headersTimeout: 10 })
}
export type Stream = typeof stream
export const method: Dispatcher.HttpMethod = 'PURGE'
