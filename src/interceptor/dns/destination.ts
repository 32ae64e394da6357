/** The origins of requests whose host is a name, and what they become with an address. */

import { parseOrigin } from '../../base/address/origin.ts'
import { serverNameOf } from '../../base/address/server-name.ts'
import { loadNet } from '../../base/node/lazy-modules.ts'
import { type DnsRecord, familyOf, portOf } from './records.ts'

export interface Destination {
  readonly origin: string
  readonly protocol: string
  readonly hostname: string
  /** The value of the host header. */
  readonly host: string
  readonly port: string
  /** For the certificate. */
  readonly serverName: string
}

/**
 * Null if there is nothing to look up: an IP literal, or an origin that is for the dispatcher to refuse.
 */
export function destinationOf(text: string): Destination | null {
  if (!URL.canParse(text)) return null
  const parsed = parseOrigin(text)
  if ('problem' in parsed || loadNet().isIP(parsed.hostname) !== 0) return null
  const { origin, protocol, hostname, host, port } = parsed
  return { origin, protocol, hostname, host, port, serverName: serverNameOf(host) }
}

/** Null for a record that names no address: a caller's function or storage may have made it. */
export function addressOrigin({ protocol, port }: Destination, record: DnsRecord): string | null {
  const family = familyOf(record.address)
  if (family === 0) return null
  const host = family === 6 ? `[${record.address}]` : record.address
  const used = portOf(record.port) ?? port
  return used === '' ? `${protocol}//${host}` : `${protocol}//${host}:${used}`
}
