// Like the REST part of a bot library for undici: `request()` with the interface of `fetch`, types inferred from
// signatures, one shared dispatcher. Compiled, never run; also against undici's own types.
import type { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import {
  Agent,
  type BodyInit,
  type Dispatcher,
  FormData,
  Headers,
  type RequestInit,
  type Response,
  request,
  setGlobalDispatcher,
} from '../../src/index.ts'

export interface ResponseLike
  extends Pick<
    Response,
    'arrayBuffer' | 'bodyUsed' | 'headers' | 'json' | 'ok' | 'status' | 'statusText' | 'text'
  > {
  body: Readable | ReadableStream | null
}

export type RequestOptions = Exclude<Parameters<typeof request>[1], undefined>
type Body = Exclude<RequestOptions['body'], undefined>
type Answer = Awaited<ReturnType<typeof request>>

export interface RESTOptions {
  agent: Dispatcher | null
  makeRequest(url: string, init: RequestInit): Promise<ResponseLike>
}

export async function makeRequest(url: string, init: RequestInit): Promise<ResponseLike> {
  const options: RequestOptions = { body: await bodyOf(init.body) }
  if (init.method !== undefined) options.method = init.method as Dispatcher.HttpMethod
  if (init.dispatcher) options.dispatcher = init.dispatcher as Dispatcher
  options.signal = init.signal ?? null
  options.headers = Object.fromEntries(new Headers(init.headers).entries())
  return likeResponse(await request(url, options))
}

function likeResponse(answer: Answer): ResponseLike {
  const { statusCode, body } = answer
  return {
    body,
    arrayBuffer: async () => body.arrayBuffer(),
    json: async () => body.json(),
    text: async () => body.text(),
    get bodyUsed() {
      return body.bodyUsed
    },
    headers: new Headers(answer.headers as Record<string, string | string[]> as Record<string, string>),
    status: statusCode,
    statusText: String(statusCode),
    ok: statusCode >= 200 && statusCode < 300,
  }
}

async function bodyOf(body: BodyInit | null | undefined): Promise<Body> {
  if (body === null || body === undefined) return null
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData)
    return body as string
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof URLSearchParams) return body.toString()
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer())
  throw new TypeError('no such body')
}

export class REST {
  agent: Dispatcher | null = null
  readonly options: RESTOptions

  constructor(options: Partial<RESTOptions> = {}) {
    this.options = { agent: null, makeRequest, ...options }
  }

  setAgent(agent: Dispatcher): this {
    this.agent = agent
    setGlobalDispatcher(agent)
    return this
  }

  async upload(url: string, files: { name: string; data: Buffer }[]): Promise<unknown> {
    const form = new FormData()
    for (const { name, data } of files) form.append('files[]', new Blob([new Uint8Array(data)]), name)
    const init: RequestInit = { method: 'POST', body: form, headers: { authorization: 'Bot x' } }
    init.dispatcher = this.agent ?? new Agent()
    init.signal = AbortSignal.timeout(15_000)
    const response = await this.options.makeRequest(url, init)
    return response.ok ? response.json() : response.text()
  }
}

export async function stats(answer: Promise<Dispatcher.ResponseData<{ started: number }>>): Promise<number> {
  const { opaque, trailers, statusCode } = await answer
  return opaque.started + statusCode + Object.keys(trailers).length
}
