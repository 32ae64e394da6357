// The connection class of a search client: one pool, its options, and what it reads of an answer.
// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
import { type Dispatcher, errors, Pool } from 'undici'

export type RequestParams = Dispatcher.RequestOptions & { timeoutMs?: number }
export class Connection {
  readonly pool: Pool
  constructor(url: URL, options: Pool.Options = {}) {
    if (!this.isUndiciAgentOptions(options)) throw new TypeError('bad options')
    const defaults: Pool.Options = {
      keepAliveTimeout: 600e3,
      keepAliveMaxTimeout: 600e3,
      pipelining: 1,
      maxHeaderSize: 16384,
    }
    const merged: Pool.Options = {
      ...defaults,
      ...options,
      connections: 256,
      headersTimeout: 30e3,
      bodyTimeout: 30e3,
    }
    if (url.protocol === 'https:')
      merged.connect = { rejectUnauthorized: false, ...(merged.connect as object) }
    this.pool = new Pool(url.toString(), merged)
  }
  async request({ timeoutMs, ...params }: RequestParams): Promise<{
    body: string | Buffer
    statusCode: number
    headers: Record<string, unknown>
  }> {
    const controller = new AbortController()
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => controller.abort(), timeoutMs)
    try {
      const response = await this.pool.request({ ...params, signal: controller.signal })
      const length = Number(response.headers['content-length'] ?? 0)
      if (length > 2 ** 20) {
        response.body.destroy()
        throw new RangeError(`${length}`)
      }
      response.body.setEncoding('utf8')
      let body = ''
      for await (const chunk of response.body) body += chunk
      return { body, statusCode: response.statusCode, headers: response.headers }
    } catch (error) {
      if (
        error instanceof errors.HeadersTimeoutError ||
        (error as errors.UndiciError).code === 'UND_ERR_SOCKET'
      )
        throw new Error('late')
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
  isUndiciAgentOptions(options: Record<string, any>): options is Pool.Options {
    return !('agent' in options)
  }
  async close(): Promise<void> {
    await this.pool.close()
  }
}
