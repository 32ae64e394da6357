import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, errors, Pool, request } from 'undici'
export interface ApiResponse<T> {
  status: number
  headers: IncomingHttpHeaders
  data: T
}
export interface ApiClientOptions extends Pool.Options {
  baseUrl: string
  token?: string
  dispatcher?: Dispatcher
}
type Call = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> & {
  query?: Record<string, string | number>
}
export class ApiClient {
  readonly #dispatcher: Dispatcher
  private base: URL
  constructor({ baseUrl, token: _t, dispatcher, ...options }: ApiClientOptions) {
    this.base = new URL(baseUrl)
    this.#dispatcher = dispatcher ?? new Pool(this.base.origin, options)
  }
  async get<T>(path: string, options: Call = {}): Promise<ApiResponse<T>> {
    return this.send<T>('GET', path, options)
  }
  async post<T>(path: string, body: object, options?: Call) {
    return this.send<T>('POST', path, {
      ...options,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  }
  private async send<T>(method: Dispatcher.HttpMethod, path: string, options: Call): Promise<ApiResponse<T>> {
    const { statusCode, headers, body } = await this.#dispatcher.request({
      ...options,
      origin: this.base,
      path,
      method,
    })
    if (statusCode >= 400) {
      await body.dump()
      throw new errors.ResponseError('failed', statusCode, { headers, body: await body.text() })
    }
    return { status: statusCode, headers, data: (await body.json()) as T }
  }
  async download(path: string): Promise<NodeJS.ReadableStream> {
    const { body } = await request(new URL(path, this.base), {
      dispatcher: this.#dispatcher,
      maxRedirections: 3,
    } as Parameters<typeof request>[1])
    return body
  }
  close() {
    return this.#dispatcher.close()
  }
}
