// Like the transport of a search engine's client for undici: a Pool, a connector that inspects the certificate,
// requests whose errors are translated. Compiled, never run; also against undici's own types.
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { buildConnector, type Dispatcher, errors, Pool } from '../../src/index.ts'

interface Parameters {
  method: string
  path: string
  body?: string | Buffer | NodeJS.ReadableStream | null
  querystring?: string
}

interface Answer {
  statusCode: number
  headers: Record<string, string | string[] | undefined>
  body: string | Buffer
}

type AgentOptions = Pool.Options | ((url: URL) => Pool)

export class Connection {
  readonly url: URL
  pool: Pool

  constructor(
    url: URL,
    agent: AgentOptions = {},
    tls: ConnectionOptions | null = null,
    fingerprint?: string,
  ) {
    this.url = url
    if (typeof agent === 'function') {
      this.pool = agent(url)
      return
    }
    const options: Pool.Options = {
      keepAliveTimeout: 600e3,
      keepAliveMaxTimeout: 600e3,
      keepAliveTimeoutThreshold: 1000,
      pipelining: 1,
      maxHeaderSize: 16384,
      connections: 256,
      headersTimeout: 0,
      bodyTimeout: 0,
      ...agent,
    }
    if (fingerprint !== undefined) {
      const connector = buildConnector((tls ?? {}) as buildConnector.BuildOptions)
      options.connect = (target: buildConnector.Options, callback: buildConnector.Callback): void => {
        connector(target, (error, socket) => {
          if (error !== null) {
            callback(error, null)
            return
          }
          if (isSecure(target, socket) && socket.getPeerCertificate(true).fingerprint256 !== fingerprint) {
            socket.destroy()
            callback(new Error('another certificate'), null)
            return
          }
          callback(null, socket)
        })
      }
    } else if (tls !== null) {
      options.connect = tls as buildConnector.BuildOptions
    }
    this.pool = new Pool(url.toString(), options)
  }

  async request(parameters: Parameters, signal?: AbortSignal): Promise<Answer> {
    const options: Dispatcher.RequestOptions & { signal: AbortSignal } = {
      origin: this.url,
      method: parameters.method as Dispatcher.HttpMethod,
      path: parameters.path + (parameters.querystring ? `?${parameters.querystring}` : ''),
      headers: Object.assign({}, { accept: 'application/json' }, { 'x-id': ['a', 'b'] }),
      body: (parameters.body ?? null) as string,
      signal: signal ?? new AbortController().signal,
    }
    if (!options.path.startsWith('/')) options.path = `/${options.path}`
    const timer = setTimeout(() => options.signal.dispatchEvent(new Event('abort')), 10)
    let response: Dispatcher.ResponseData
    try {
      response = await this.pool.request(options)
    } catch (error) {
      throw translated(error as Error)
    } finally {
      clearTimeout(timer)
    }
    const encoding = String(response.headers['content-encoding'] ?? '').toLowerCase()
    if (Number(response.headers['content-length']) > 1e6) response.body.destroy()
    const chunks: Buffer[] = []
    for await (const chunk of response.body) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk))
    const whole = Buffer.concat(chunks)
    return {
      statusCode: response.statusCode,
      headers: response.headers,
      body: encoding === '' ? whole.toString('utf8') : whole,
    }
  }

  async close(): Promise<void> {
    await this.pool.close()
  }
}

function isSecure(target: buildConnector.Options, socket: unknown): socket is TLSSocket {
  return socket !== null && target.protocol === 'https:'
}

function translated(error: Error): Error {
  if (error instanceof errors.RequestAbortedError) return new Error('aborted')
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return new Error('timed out')
  }
  if (error instanceof errors.SocketError) {
    const { localAddress = 'unknown', localPort, remoteAddress } = error.socket ?? {}
    return new Error(`${error.message}: ${localAddress}:${localPort} ${remoteAddress}`)
  }
  if (error instanceof errors.UndiciError) return new Error(`${error.name} ${error.code}`)
  switch ((error as NodeJS.ErrnoException).code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new Error('timed out')
    default:
      return error
  }
}

/** For a function that takes the constructor arguments of an error class. */
export const kinds: (typeof errors.UndiciError)[] = [errors.UndiciError]
