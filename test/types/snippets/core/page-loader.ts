// Loads a page into a parser, as cheerio does: options of a request with defaults.
import { PassThrough } from 'node:stream'
import * as undici from 'undici'

type UndiciStreamOptions = Omit<undici.Dispatcher.RequestOptions<unknown>, 'path'>
export interface LoaderOptions {
  requestOptions?: UndiciStreamOptions
  encoding?: BufferEncoding
}
const DEFAULTS: UndiciStreamOptions = {
  method: 'GET',
  headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
}
export async function fromURL(url: string | URL, options: LoaderOptions = {}): Promise<PassThrough> {
  const { requestOptions = DEFAULTS } = options
  const parser = new PassThrough()
  await undici.stream(url, requestOptions, (response) => {
    const type = response.headers['content-type']
    if (response.statusCode < 200 || response.statusCode >= 300) {
      throw new undici.errors.ResponseError('Response Error', response.statusCode, {
        headers: response.headers,
      })
    }
    const history = (response.context as { history?: URL[] } | null)?.history
    console.log(String(Array.isArray(type) ? type[0] : type), history?.at(-1)?.href)
    return parser
  })
  return parser
}
