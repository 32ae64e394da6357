// The request strategy of a bot library: fetch-like options in, a response-like object out.
import { STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { types } from 'node:util'
import { Headers, type RequestInit, type Response, request } from 'undici'

export interface ResponseLike
  extends Pick<
    Response,
    'arrayBuffer' | 'bodyUsed' | 'headers' | 'json' | 'ok' | 'status' | 'statusText' | 'text'
  > {
  body: Readable | ReadableStream | null
}
export type RequestOptions = Exclude<Parameters<typeof request>[1], undefined>
export async function makeRequest(url: string, init: RequestInit): Promise<ResponseLike> {
  const options = { ...init, body: await resolveBody(init.body) } as RequestOptions
  const res = await request(url, options)
  return {
    body: res.body,
    async arrayBuffer() {
      return res.body.arrayBuffer()
    },
    async json() {
      return res.body.json()
    },
    async text() {
      return res.body.text()
    },
    get bodyUsed() {
      return res.body.bodyUsed
    },
    headers: new Headers(res.headers as Record<string, string>),
    status: res.statusCode,
    statusText: STATUS_CODES[res.statusCode]!,
    ok: res.statusCode >= 200 && res.statusCode < 300,
  }
}
export async function resolveBody(
  body: RequestInit['body'],
): Promise<Exclude<RequestOptions['body'], undefined>> {
  if (body == null) return null
  if (typeof body === 'string') return body
  if (types.isUint8Array(body)) return body
  if (types.isArrayBuffer(body)) return new Uint8Array(body)
  if (body instanceof URLSearchParams) return body.toString()
  if (body instanceof DataView) return new Uint8Array(body.buffer)
  throw new TypeError('Unable to resolve body.')
}
