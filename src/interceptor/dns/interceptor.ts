/** `interceptors.dns`: resolves names by itself, remembers the addresses, and uses all of them. */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { OriginTable } from '../../relay/origin-key.ts'
import { refuse } from '../../relay/refusal.ts'
import { hasHeader, ownOptions, withHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions, HeadersInput, HeaderValueInput } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { isPairIterable } from '../../request/headers-input.ts'
import { type Destination, destinationOf } from './destination.ts'
import { type DnsOptions, readDnsOptions } from './options.ts'
import { ResolvedRequest } from './resolved-request.ts'
import { DnsResolver } from './resolver.ts'

/**
 * An interceptor that looks names up once for many requests, and spreads these over the addresses.
 *
 * @example
 * const agent = new Agent().compose(interceptors.dns({ maxTTL: 30_000 }))
 */
export function dns(options?: DnsOptions | null): Interceptor {
  const resolver = new DnsResolver(inCall(dns, () => readDnsOptions(options)))
  const destinations = new OriginTable(destinationOf)
  return ownInterceptor((dispatch, own, _life, held) => (opts, handler) => {
    // A dispatcher of one origin sends there whatever the request names.
    const origin = isCall(opts, handler) ? own || opts.origin : null
    const isOrigin = typeof origin === 'string' || origin instanceof URL
    const destination = isOrigin ? destinations.get(String(origin)) : null
    if (destination === null) return dispatch(opts, handler)
    let named: DispatchOptions
    try {
      named = withName(opts, destination)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    const call = { opts: named, handler, dispatch, held }
    return new ResolvedRequest(call, { resolver, destination, hasChoice: own === undefined }).start()
  })
}

/** A copy of the options that keeps the name: the server and its certificate are selected by it. */
function withName(opts: DispatchOptions, { host, serverName }: Destination): DispatchOptions {
  const copy = ownOptions(opts)
  copy.servername = opts.servername || serverName
  if (!hasHeader(copy.headers, 'host')) copy.headers = withHost(copy.headers, host)
  return copy
}

/** In the shape that they have. A wrong one is for the dispatcher to refuse. */
function withHost(headers: HeadersInput | null | undefined, host: string): HeadersInput {
  if (headers === null || headers === undefined) return { host }
  if (typeof headers !== 'object') return headers
  if (Array.isArray(headers) && !Array.isArray(headers[0])) return ['host', host, ...headers]
  if (isPairIterable(headers)) return withHeaders(headers, { host })
  const fields = { host, ...(headers as Record<string, HeaderValueInput>) }
  fields.host ??= host
  return fields
}
