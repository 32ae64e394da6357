// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
import type { Agent, Dispatcher, RequestInit } from 'undici'

// Libraries that describe the part they use themselves.
interface DispatcherLike {
  dispatch(options: any, handler: any): boolean
  close(): Promise<void>
}
interface RequestLike {
  request(o: { path: string; method: string; origin?: string }): Promise<{
    statusCode: number
    headers: Record<string, string | string[] | undefined>
    body: NodeJS.ReadableStream & { text(): Promise<string>; json(): Promise<unknown> }
  }>
}
export const a = (d: Dispatcher): DispatcherLike => d
export const b = (d: Agent): RequestLike => d
export const c = (
  r: Dispatcher.ResponseData,
): { body: AsyncIterable<Uint8Array>; trailers: Record<string, string>; context: object } => r
export const d = (i: RequestInit): { method?: string | undefined; dispatcher?: Dispatcher | undefined } => i
export interface Config {
  fetchOptions?: RequestInit & { dispatcher?: Dispatcher }
  agent?: Dispatcher | (() => Dispatcher)
}
export const e = (x: Config): Dispatcher | undefined => (typeof x.agent === 'function' ? x.agent() : x.agent)
export type Ext = Dispatcher.RequestOptions & { timeout?: number }
export interface Own extends Dispatcher.DispatchOptions {
  retry?: number
}
export interface Own2 extends Omit<Dispatcher.RequestOptions<string>, 'method'> {
  method?: 'GET'
}
export interface Own3 extends RequestInit {
  json?: unknown
}
export interface Own4 extends Agent.Options {
  name: string
}
export interface OwnResponse<T> extends Dispatcher.ResponseData<null> {
  data: T
}
export const f = async <T>(r: Dispatcher.ResponseData): Promise<OwnResponse<T>> =>
  Object.assign(r, { data: (await r.body.json()) as T })
export const g = (o: Own, d: Dispatcher) => d.request({ ...o })
export class Impl implements Dispatcher.DispatchHandler {
  onRequestStart(_c: Dispatcher.DispatchController, _x: any) {}
  onResponseStart(_c: Dispatcher.DispatchController, _s: number) {}
  onResponseError(_c: Dispatcher.DispatchController, e: Error) {
    throw e
  }
}
