/**
 * The name a TLS server is asked for, from a host as it stands in a URL or a host header.
 */
import { isIP } from 'node:net'

/** Without port and brackets; empty for an IP address, which must not be sent as SNI (RFC 6066 §3). */
export function serverNameOf(host: string): string {
  const name = host.startsWith('[') ? host.slice(1, Math.max(host.indexOf(']'), 1)) : host.split(':', 1)[0]!
  return isIP(name) === 0 ? name : ''
}
