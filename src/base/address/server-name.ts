/**
 * Owns the names that go into DNS, SNI and certificate checks: which may be used at all, and the name to
 * present when the caller gave none (RFC 6066 §3). It opens nothing.
 */
import { domainToASCII } from 'node:url'
import { ipFamily } from './ip-address.ts'

const SPACE = 0x20
const DELETE = 0x7f

/**
 * The form in which a host name is resolved, presented and verified, or null if it must not be used.
 * A NUL would cut the name short in C code below us, so that another host is checked than was asked for
 * (CVE-2026-48930); Unicode dots would be counted differently by the wildcard check (CVE-2026-48618).
 */
export function asciiHost(name: string): string | null {
  let isAscii = true
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (unit <= SPACE || unit === DELETE) return null
    if (unit > DELETE) isAscii = false
  }
  return isAscii ? name : domainToASCII(name) || null
}

/** The server name of a `host[:port]`; empty for an IP literal, which SNI cannot carry. */
export function serverNameOf(host: string): string {
  if (ipFamily(host) !== 0) return ''
  const end = host.startsWith('[') ? host.indexOf(']') : host.lastIndexOf(':')
  const name = host.slice(host.startsWith('[') ? 1 : 0, end === -1 ? undefined : end)
  if (ipFamily(name) !== 0) return ''
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** URLs write IPv6 literals in brackets, resolvers and sockets do not take them. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname
}
