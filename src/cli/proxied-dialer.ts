/**
 * Opens the connections of a run through a proxy, named on the command line or by the environment, and
 * watches them through the library's diagnostics channels: inside a tunnel, sockets are the library's own.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { EnvHttpProxyAgent, type EnvHttpProxyAgentOptions } from '../index.ts'
import { type Options, UsageError } from './options.ts'

/** The proxy, and what names it. */
export interface ProxyFacts {
  /** Without credentials. */
  readonly uri: string
  /** The option or the variable that names it. */
  readonly rule: string
}

/**
 * Null: the URL is reached directly.
 *
 * @param authorities Trusted also for the certificate of a proxy; null for the usual ones.
 */
export function openProxied(
  options: Options,
  more: EnvHttpProxyAgentOptions,
  authorities: Buffer | null,
): { agent: EnvHttpProxyAgent; proxy: ProxyFacts; host: string } | null {
  const { url, proxy: given, noproxy, h2c } = options
  if (options['unix-socket'] !== undefined) return null
  const settings: EnvHttpProxyAgentOptions = {
    ...more,
    ...(given === undefined ? {} : { httpProxy: given, httpsProxy: given }),
    ...(noproxy === undefined ? {} : { noProxy: noproxy }),
    // A proxy would not forward it.
    proxyTunnel: h2c,
  }
  const agent = makeAgent(settings)
  const { proxy, rule } = agent.explain(url)
  const needsAuthorities = authorities !== null && proxy?.startsWith('https:')
  if (proxy === null || needsAuthorities) void agent.destroy()
  if (proxy === null) return null
  const isForwarded = url.protocol === 'http:' && !h2c && proxy.startsWith('http')
  return {
    // Only for an https: proxy: to a SOCKS proxy any object would mean TLS.
    agent: needsAuthorities ? makeAgent({ ...settings, proxyTls: { ca: authorities } }) : agent,
    proxy: { uri: proxy, rule: given === undefined ? rule : '--proxy' },
    // Connections are opened to it, and the channels name it.
    host: isForwarded ? new URL(proxy).host : url.host,
  }
}

/** The message leaves the value out: it may contain a password. */
function makeAgent(options: EnvHttpProxyAgentOptions): EnvHttpProxyAgent {
  try {
    return new EnvHttpProxyAgent(options)
  } catch {
    throw new UsageError('the URL of the proxy is not a valid http, https or socks5 URL')
  }
}

/** What a connection is opened to. */
export interface ConnectParams {
  readonly host: string
  readonly protocol: string
  readonly port: string
}

/** Reports connections to a host, null for any, before and after they open, until the returned function is called. */
export function watchConnections(
  host: string | null,
  onStart: (to: ConnectParams) => void,
  onConnected: (socket: Socket) => void,
): () => void {
  const watch = (name: string, call: (to: ConnectParams, socket: Socket) => void): (() => void) => {
    const listener = (message: unknown): void => {
      const { connectParams, socket } = message as { connectParams: ConnectParams; socket: Socket }
      if (host === null || connectParams.host === host) call(connectParams, socket)
    }
    subscribe(name, listener)
    return () => unsubscribe(name, listener)
  }
  const stops = [
    watch('undici:client:beforeConnect', onStart),
    watch('undici:client:connected', (_, socket) => onConnected(socket)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
