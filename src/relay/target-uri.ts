/**
 * What a request is for, as the origin of its key. The target URI has the authority that `host` names, and
 * the TLS server name can select another site again (RFC 9110 §7.1, §7.2): two virtual hosts behind one
 * origin must not share a response. Where these differ from what the origin implies, they follow it as a
 * fragment, which no origin has; a partition follows after a space.
 */
import { serverNameOf } from '../base/address/server-name.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { fieldText } from './fields.ts'

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': ':80', 'https:': ':443' }

/** Lone surrogates: databases write all of them as U+FFFD, so that different texts become one. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** `origin` is normalised. */
export function keyOrigin(origin: string, headers: HeaderObject, servername: unknown): string {
  const given = fieldText(headers, 'host')
  if (given === null && !servername) return origin
  const [protocol, own] = origin.split('//') as [string, string]
  const host = given === null ? own : withoutDefaultPort(given.toLowerCase(), protocol)
  const name = servername ? String(servername).toLowerCase() : null
  const parts: string[] = []
  if (host !== own) parts.push(`host=${encoded(host)}`)
  if (name !== null && name !== serverNameOf(host)) parts.push(`servername=${encoded(name)}`)
  return parts.length === 0 ? origin : `${origin}#${parts.join('&')}`
}

/** No origin has a space, so no partition can pass for another origin. */
export function withPartition(origin: string, partition: string): string {
  if (!LONE_SURROGATE.test(partition)) return `${origin} ${partition}`
  // JSON escapes lone surrogates.
  return `${origin}${origin.includes('#') ? '&' : '#'}partition=${JSON.stringify(partition)}`
}

/** The origin that the request was sent to. */
export function sentOrigin(key: string): string {
  return key.split(/[ #]/, 1)[0]!
}

/** The origin of the target URI; null if `host` names none. */
export function targetOrigin(key: string): string | null {
  const origin = sentOrigin(key)
  const host = /^[^ #]*#host=([^ &]*)/.exec(key)?.[1]
  if (host === undefined) return origin
  const text = `${origin.split('//', 1)[0]}//${decodeURIComponent(host)}`
  return URL.canParse(text) ? new URL(text).origin : null
}

/** Whether the target URI is what the origin alone says. */
export function isPlainTarget(key: string): boolean {
  return !key.split(' ', 1)[0]!.includes('#')
}

function withoutDefaultPort(host: string, protocol: string): string {
  const port = DEFAULT_PORTS[protocol]!
  return host.endsWith(port) ? host.slice(0, -port.length) : host
}

/** Header values are checked later: this must not throw for any text. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}
