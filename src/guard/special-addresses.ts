/**
 * The addresses that are not for hosts on the public Internet: the IANA special-purpose registries of IPv4
 * and IPv6 (RFC 6890), multicast, the deprecated tunnels, and the fixed addresses of cloud metadata services.
 * Stricter than the registries in one respect: a block that is reserved for protocols is refused with the few
 * anycast services inside it.
 */
import { readIpSet } from '../base/address/ip-set.ts'
import { embeddedIpv4, withoutMapping } from './embedded-ipv4.ts'

/** Why an address is not public, and the block that it is in, in CIDR notation. */
interface SpecialBlock {
  readonly rule: keyof typeof BLOCKS
  readonly entry: string
}

/** In the order of the search: an address in several blocks goes by the first. */
const BLOCKS = {
  // AWS, Azure, Google and most others; AWS and Google over IPv6; Azure; Alibaba; Oracle.
  metadata:
    '169.254.169.254/32 fd00:ec2::254/128 fd20:ce::254/128 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32',
  loopback: '127.0.0.0/8 ::1/128',
  private: '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10',
  'link-local': '169.254.0.0/16 fe80::/10',
  shared: '100.64.0.0/10',
  'this-network': '0.0.0.0/8',
  unspecified: '::/128',
  multicast: '224.0.0.0/4 ff00::/8',
  broadcast: '255.255.255.255/32',
  documentation: '192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20',
  benchmarking: '198.18.0.0/15 2001:2::/48',
  teredo: '2001::/32',
  'protocol-assignment': '192.0.0.0/24 2001::/23',
  discard: '100::/64',
  'ipv4-compatible': '::/96',
  '6to4': '192.88.99.0/24 2002::/16',
  nat64: '64:ff9b:1::/48',
  reserved: '240.0.0.0/4',
}

/** RFC 4291 §2.4. All else is reserved, except a public address behind NAT64's well-known prefix. */
const GLOBAL_UNICAST = '2000::/3'
const WELL_KNOWN_NAT64 = '64:ff9b::/96'

let search: ReturnType<typeof makeSearch> | null = null

/** The block that an address, or one inside it, belongs to; null for a public one. */
export function specialBlockOf(given: Uint8Array): SpecialBlock | null {
  const address = withoutMapping(given)
  search ??= makeSearch()
  const { blocks, isGlobal, isNat64 } = search
  const find = (bytes: Uint8Array): SpecialBlock | undefined => blocks.find(({ has }) => has(bytes))?.is
  const found = find(address)
  if (found !== undefined || address.length === 4) return found ?? null
  if (!isGlobal(address) && !isNat64(address)) return { rule: 'reserved', entry: '::/0' }
  return embeddedIpv4(address).map(find).find(Boolean) ?? null
}

function makeSearch() {
  const blocks = Object.entries(BLOCKS).flatMap(([rule, list]) =>
    list.split(' ').map((entry) => ({ is: { rule, entry } as SpecialBlock, has: readIpSet(entry)! })),
  )
  return { blocks, isGlobal: readIpSet(GLOBAL_UNICAST)!, isNat64: readIpSet(WELL_KNOWN_NAT64)! }
}
