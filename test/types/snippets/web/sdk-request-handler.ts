// The request handler of a cloud SDK: requests and responses as plain objects, over fetch.
import { type Dispatcher, fetch, Headers, type RequestInit } from 'undici'

interface HttpRequest {
  method: string
  protocol: string
  hostname: string
  port?: number
  path: string
  query: Record<string, string | string[] | null>
  headers: Record<string, string>
  body?: Uint8Array | string | ReadableStream
}
interface HttpResponse {
  statusCode: number
  reason: string
  headers: Record<string, string>
  body?: unknown
}
export class Handler {
  readonly metadata = { handlerProtocol: 'http/1.1' }
  constructor(readonly dispatcher: Dispatcher) {}
  async handle(
    request: HttpRequest,
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<{ response: HttpResponse }> {
    const init: RequestInit = {
      method: request.method,
      headers: new Headers(request.headers),
      dispatcher: this.dispatcher,
    }
    if (abortSignal) init.signal = abortSignal
    if (request.body !== undefined) {
      init.body = request.body
      init.duplex = 'half'
    }
    const response = await fetch(`${request.protocol}//${request.hostname}${request.path}`, init)
    const headers: Record<string, string> = {}
    for (const [name, value] of response.headers.entries()) headers[name] = value
    const { status: statusCode, statusText: reason, body } = response
    return { response: { statusCode, reason, headers, body: body ?? (await response.blob()) } }
  }
}
