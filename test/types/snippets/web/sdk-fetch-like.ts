// An SDK that describes the function it wants by itself.
import { fetch, type RequestInit, type Response } from 'undici'

type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>
interface ResponseLike {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly headers: { get(name: string): string | null; has(name: string): boolean }
  json(): Promise<unknown>
  text(): Promise<string>
  arrayBuffer(): Promise<ArrayBuffer>
}
type Minimal = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string },
) => Promise<ResponseLike>

export const own: FetchLike = fetch
export const minimal: Minimal = fetch
