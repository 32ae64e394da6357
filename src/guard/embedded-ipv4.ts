/**
 * The IPv4 addresses inside an IPv6 address. Each form can bypass a filter that knows only the dotted
 * notation: a system, a relay or a translator may take the inner address for the destination.
 */
import { samePrefix } from '../base/address/ip-address.ts'

/** Where a form has the address: the offsets of its four bytes, inverted in the client part of Teredo. */
interface Form {
  readonly prefix: Uint8Array
  readonly bits: number
  readonly offsets: readonly [number, number, number, number]
  readonly inverted?: true
}

const LAST = [12, 13, 14, 15] as const

const FORMS: readonly Form[] = [
  // Mapped (RFC 4291 §2.5.5.2), compatible (§2.5.5.1), translated (RFC 2765 §2.1).
  { prefix: prefixOf(0, 0, 0, 0, 0, 0xffff), bits: 96, offsets: LAST },
  { prefix: prefixOf(), bits: 96, offsets: LAST },
  { prefix: prefixOf(0, 0, 0, 0, 0xffff), bits: 96, offsets: LAST },
  // NAT64 with the well-known prefix (RFC 6052 §2.1), and with the local one (RFC 8215) at each length that
  // fits (RFC 6052 §2.2).
  { prefix: prefixOf(0x64, 0xff9b), bits: 96, offsets: LAST },
  { prefix: prefixOf(0x64, 0xff9b, 1), bits: 48, offsets: LAST },
  { prefix: prefixOf(0x64, 0xff9b, 1), bits: 48, offsets: [6, 7, 9, 10] },
  { prefix: prefixOf(0x64, 0xff9b, 1), bits: 48, offsets: [7, 9, 10, 11] },
  { prefix: prefixOf(0x64, 0xff9b, 1), bits: 48, offsets: [9, 10, 11, 12] },
  // 6to4 (RFC 3056 §2), and the server and the client of Teredo (RFC 4380 §4).
  { prefix: prefixOf(0x2002), bits: 16, offsets: [2, 3, 4, 5] },
  { prefix: prefixOf(0x2001), bits: 32, offsets: [4, 5, 6, 7] },
  { prefix: prefixOf(0x2001), bits: 32, offsets: LAST, inverted: true },
]

const IPV4 = 4
const [MAPPED] = FORMS as [Form]

/** All that it may contain; none in an IPv4 address. */
export function embeddedIpv4(address: Uint8Array): Uint8Array[] {
  if (address.length === IPV4) return []
  const forms = FORMS.filter(({ prefix, bits }) => samePrefix(address, prefix, bits))
  const found = forms.map(({ offsets, inverted }) =>
    Uint8Array.from(offsets, (offset) => (inverted ? ~address[offset]! & 0xff : address[offset]!)),
  )
  return isIsatap(address) ? [...found, address.slice(12)] : found
}

/** A system connects to an IPv4-mapped address over IPv4: it is another spelling of that address. */
export function withoutMapping(address: Uint8Array): Uint8Array {
  return samePrefix(address, MAPPED.prefix, MAPPED.bits) ? address.slice(12) : address
}

/** The IPv4-mapped form of an IPv4 address. */
export function mapped(address: Uint8Array): Uint8Array {
  const bytes = MAPPED.prefix.slice()
  bytes.set(address, 12)
  return bytes
}

/** RFC 5214 §6.1: any prefix, then 0000:5efe or 0200:5efe, with the universal bit either way. */
function isIsatap(address: Uint8Array): boolean {
  return (address[8]! & 0xfc) === 0 && address[9] === 0 && address[10] === 0x5e && address[11] === 0xfe
}

function prefixOf(...groups: number[]): Uint8Array {
  const bytes = new Uint8Array(16)
  for (const [index, group] of groups.entries()) {
    bytes[2 * index] = group >> 8
    bytes[2 * index + 1] = group & 0xff
  }
  return bytes
}
