/**
 * The IPv4 addresses inside an IPv6 address. Each form can bypass a filter that knows only the dotted
 * notation: a system, a relay or a translator may take the inner address for the destination.
 */
import { samePrefix } from '../base/address/ip-address.ts'
import { readIpSet } from '../base/address/ip-set.ts'

const LAST = [12, 13, 14, 15] as const

/** The block of each form, the offsets of the four bytes, and the bits of them that are inverted. */
const FORMS: readonly (readonly [block: string, offsets: readonly number[], inverted?: number])[] = [
  // Mapped (RFC 4291 §2.5.5.2), compatible (§2.5.5.1), translated (RFC 2765 §2.1).
  ['::ffff:0:0/96', LAST],
  ['::/96', LAST],
  ['::ffff:0:0:0/96', LAST],
  // NAT64 with the well-known prefix (RFC 6052 §2.1), and with the local one (RFC 8215) at each length that
  // fits (RFC 6052 §2.2).
  ['64:ff9b::/96', LAST],
  ['64:ff9b:1::/48', LAST],
  ['64:ff9b:1::/48', [6, 7, 9, 10]],
  ['64:ff9b:1::/48', [7, 9, 10, 11]],
  ['64:ff9b:1::/48', [9, 10, 11, 12]],
  // 6to4 (RFC 3056 §2), and the server and the client of Teredo (RFC 4380 §4).
  ['2002::/16', [2, 3, 4, 5]],
  ['2001::/32', [4, 5, 6, 7]],
  ['2001::/32', LAST, 0xff],
]

const MAPPED = mapped(new Uint8Array(4))

let search: ReturnType<typeof makeSearch> | null = null

/** All that it may contain; none in an IPv4 address. */
export function embeddedIpv4(address: Uint8Array): Uint8Array[] {
  search ??= makeSearch()
  const forms = search.filter(({ has }) => has(address))
  const found = forms.map(({ offsets, inverted }) =>
    Uint8Array.from(offsets, (offset) => address[offset]! ^ inverted),
  )
  return isIsatap(address) ? [...found, address.slice(12)] : found
}

/** When it is first needed: most programs have no guard. */
function makeSearch() {
  return FORMS.map(([block, offsets, inverted = 0]) => ({ has: readIpSet(block)!, offsets, inverted }))
}

/** A system connects to an IPv4-mapped address over IPv4: it is another spelling of that address. */
export function withoutMapping(address: Uint8Array): Uint8Array {
  return samePrefix(address, MAPPED, 96) ? address.slice(12) : address
}

/** The IPv4-mapped form of an IPv4 address. */
export function mapped(address: Uint8Array): Uint8Array {
  return Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...address)
}

/** RFC 5214 §6.1: any prefix, then 0000:5efe or 0200:5efe, with the universal bit either way. */
function isIsatap(address: Uint8Array): boolean {
  return (address[8]! & 0xfc) === 0 && address[9] === 0 && address[10] === 0x5e && address[11] === 0xfe
}
