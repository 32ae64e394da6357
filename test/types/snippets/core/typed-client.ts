// A small client for one API, with generics of its own.
import { type Dispatcher, errors, Pool, request } from 'undici'

type Options<T> = Partial<Dispatcher.RequestOptions<T>> & { path: string }
export class Api {
  readonly #pool: Pool
  constructor(origin: string) {
    this.#pool = new Pool(origin, { connections: 4, allowH2: true })
  }
  async get<T>(options: Options<null>): Promise<T> {
    const { body, statusCode, headers } = await this.#pool.request({ method: 'GET', ...options })
    if (statusCode >= 400)
      throw new errors.ResponseError('no', statusCode, { headers, body: await body.text() })
    return (await body.json()) as T
  }
  async head(path: string): Promise<Dispatcher.ResponseData['headers']> {
    const { headers, body } = await this.#pool.request({ path, method: 'HEAD' })
    await body.dump()
    return headers
  }
}
export const text = async (...args: Parameters<typeof request>): Promise<string> =>
  (await request(...args)).body.text()
export const all = (urls: string[]): Promise<number[]> =>
  Promise.all(urls.map((url) => request(url, { method: 'HEAD' }).then(({ statusCode }) => statusCode)))
