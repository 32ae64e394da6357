/**
 * A client that speaks HTTP/2 over cleartext from the first byte (prior knowledge, RFC 9113 §3.3).
 */
import { parseOrigin } from '../base/origin.ts'
import { withoutPollution } from '../base/own-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BuildConnectorOptions } from '../net/connector.ts'
import { Client } from './client.ts'
import type { ClientOptions, ConnectFunction } from './client-options.ts'

/** How an `H2CClient` opens its connections. */
export interface H2CConnectOptions
  extends Pick<
    BuildConnectorOptions,
    'socketPath' | 'timeout' | 'servername' | 'keepAlive' | 'keepAliveInitialDelay'
  > {}

/** Options of `H2CClient`. */
export interface H2CClientOptions extends Omit<ClientOptions, 'allowH2' | 'useH2c' | 'connect' | 'tls'> {
  /** Streams in flight; the same as `maxConcurrentStreams`, and not more than it. */
  readonly pipelining?: number | null | undefined
  readonly connect?: H2CConnectOptions | ConnectFunction | null | undefined
}

const DEFAULT_STREAMS = 100

/**
 * A client that speaks HTTP/2 without TLS.
 *
 * @example
 * const client = new H2CClient('http://localhost:8080')
 * const { body } = await client.request({ path: '/', method: 'GET' })
 */
export class H2CClient extends Client {
  /** @param url Protocol, host name and port; the protocol is `http:`. */
  constructor(url: string | URL | object, options: H2CClientOptions = {}) {
    if (options === null) throw new TypeError('options must not be null')
    const origin = parseOrigin(url)
    if (!('problem' in origin) && origin.protocol !== 'http:') {
      throw new InvalidArgumentError('h2c-client: Only h2c protocol is supported')
    }
    const own = withoutPollution(options)
    const streams = own.maxConcurrentStreams ?? DEFAULT_STREAMS
    if (!Number.isInteger(streams) || streams < 1) {
      throw new InvalidArgumentError('maxConcurrentStreams must be a positive integer, greater than 0')
    }
    const { pipelining } = own
    const given =
      Number.isInteger(pipelining) && (pipelining as number) > 0 ? (pipelining as number) : streams
    if (given > streams) {
      throw new InvalidArgumentError('h2c-client: pipelining cannot be greater than maxConcurrentStreams')
    }
    super(url, { ...options, allowH2: true, useH2c: true, maxConcurrentStreams: given, pipelining: given })
  }
}

/** The types under the names that programs written for undici use. */
export declare namespace H2CClient {
  type Options = H2CClientOptions
}
