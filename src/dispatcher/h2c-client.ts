/**
 * A client that speaks HTTP/2 over cleartext from the first byte (prior knowledge, RFC 9113 §3.3).
 */

import { parseOrigin } from '../base/address/origin.ts'
import { inCall } from '../base/error/public-call.ts'
import { defineKind } from '../base/object/kind.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BuildConnectorOptions } from '../net/connector.ts'
import { Client, limitStreams } from './client.ts'
import type { ClientOptions, ConnectFunction } from './client-options.ts'
import type { Http2Options } from './http2-options.ts'

/** How an `H2CClient` opens its connections. */
export interface H2CConnectOptions
  extends Pick<
    BuildConnectorOptions,
    'socketPath' | 'timeout' | 'servername' | 'keepAlive' | 'keepAliveInitialDelay' | 'guard'
  > {}

/** Options of `H2CClient`. */
export interface H2CClientOptions extends Omit<ClientOptions, 'allowH2' | 'useH2c' | 'connect' | 'tls'> {
  /** Streams in flight; the same number as `maxConcurrentStreams` under another name. */
  pipelining?: number | null | undefined
  connect?: H2CConnectOptions | ConnectFunction | undefined
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
    const own = ownMembers(options)
    const streams = inCall(H2CClient, () => {
      checkCleartext(url)
      return streamsOf(own)
    })
    super(url, {
      ...options,
      allowH2: true,
      useH2c: true,
      maxConcurrentStreams: streams,
      pipelining: streams,
      h2Options: settled(own.h2Options, streams),
    })
  }

  /** Requests in flight until the server sets a limit; the same number as `maxConcurrentStreams`. */
  override get pipelining(): number {
    return super.pipelining
  }

  /** Takes effect at once, even while requests run. Anything but a positive integer is ignored. */
  override set pipelining(value: number) {
    if (!isPositive(value)) return
    super.pipelining = value
    limitStreams(this, value)
  }
}

function checkCleartext(url: string | URL | object): void {
  const origin = parseOrigin(url)
  if (!('problem' in origin) && origin.protocol !== 'http:') {
    throw new InvalidArgumentError('h2c-client: Only h2c protocol is supported')
  }
}

/** `pipelining` and `maxConcurrentStreams` are one number under two names: one given sets both. */
function streamsOf({ pipelining, maxConcurrentStreams, h2Options }: H2CClientOptions): number {
  const grouped = ownMembers(Object(h2Options) as Http2Options).maxConcurrentStreams ?? null
  const streams = grouped ?? maxConcurrentStreams ?? null
  if (streams !== null && !isPositive(streams)) {
    const name = grouped === null ? 'maxConcurrentStreams' : 'h2Options.maxConcurrentStreams'
    throw new InvalidArgumentError(`${name} must be a positive integer, greater than 0`)
  }
  if (!isPositive(pipelining)) return streams ?? DEFAULT_STREAMS
  if (streams !== null && pipelining > streams) {
    throw new InvalidArgumentError('h2c-client: pipelining cannot be greater than maxConcurrentStreams')
  }
  return pipelining
}

/**
 * The group wins over the flat options, so it gets the same values. Wrong values stay, to be refused later.
 */
function settled(h2Options: Http2Options | null | undefined, streams: number): Http2Options {
  const { useH2c } = ownMembers(Object(h2Options) as Http2Options)
  return { ...h2Options, useH2c: typeof useH2c === 'boolean' ? true : useH2c, maxConcurrentStreams: streams }
}

function isPositive(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0
}

defineKind(H2CClient, 'ventuno.H2CClient')

/** The types under the names that programs written for undici use. */
export declare namespace H2CClient {
  export type { H2CClientOptions as Options }
}
