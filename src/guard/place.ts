/**
 * Where a request leads, as host and port of a URL. Proxies and others who receive a URL as text may parse it
 * differently, so only a text with a single reading has a place: `http://a\@b/` has the host `a` for one
 * parser and `b` for another.
 */
import { withoutBrackets } from '../base/address/server-name.ts'

export interface Place {
  /** With the colon. */
  readonly protocol: string
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
}

/** Of a URL with any path; null for what is not one. */
export function placeOf(url: string | URL): Place | null {
  const text = String(url)
  if (!URL.canParse(text)) return null
  const { protocol, hostname, port } = new URL(text)
  return { protocol, hostname: withoutBrackets(hostname), port: portOf({ protocol, port }) }
}

/** Of an absolute URL that is sent as it is; null if others may read another host in it. */
export function placeOfSent(text: string): Place | null {
  if (!URL.canParse(text)) return null
  const { protocol, host, port } = new URL(text)
  const start = `${protocol}//${host}`
  if (!text.toLowerCase().startsWith(start)) return null
  const rest = text.slice(start.length)
  const defaultPort = port === '' ? `:${portOf({ protocol })}` : ''
  const path = rest.startsWith(defaultPort) ? rest.slice(defaultPort.length) : rest
  return /^(?:[/?#]|$)/.test(path) ? placeOf(text) : null
}

/** Of the authority of a CONNECT request (RFC 9112 §3.2.3). */
export function placeOfAuthority(authority: string): Place | null {
  const parts = /^(\[[0-9a-f:.]+\]|[^\s:@/?#\\[\]]+):([0-9]{1,5})$/i.exec(authority)
  if (parts === null) return null
  const [, host, port] = parts as unknown as [string, string, string]
  const place = placeOf(`http://${host}`)
  return place && { ...place, port: Number(port) }
}

/** That of the scheme, if none is given. */
export function portOf({ protocol, port }: { protocol: string; port?: unknown }): number {
  return Number(port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80))
}
