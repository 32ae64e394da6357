/**
 * Owns the bytes of IP addresses: two spellings of an address are the same four or sixteen bytes, and a block
 * of addresses is a prefix of them. It resolves nothing.
 */
import { loadNet } from '../node/lazy-modules.ts'

const GROUPS = 8

/**
 * The same as `net.isIP`, which runs a regular expression for IPv6 over all that is not IPv4. Compiling that
 * takes longer than all else that a first request needs of an address. IPv6 has at least two colons.
 */
export function ipFamily(text: string): 0 | 4 | 6 {
  if (text.indexOf(':') === text.lastIndexOf(':')) return loadNet().isIPv4(text) ? 4 : 0
  return loadNet().isIPv6(text) ? 6 : 0
}

/**
 * The 4 or 16 bytes of an IP literal in text form (RFC 4291 §2.2), without brackets; null for anything else.
 * A zone (`fe80::1%eth0`) names an interface of this machine, and is not part of an address.
 */
export function ipBytes(text: string): Uint8Array | null {
  const family = text.includes('%') ? 0 : ipFamily(text)
  if (family === 0) return null
  return family === 4 ? Uint8Array.from(text.split('.'), Number) : ipv6Bytes(text)
}

function ipv6Bytes(text: string): Uint8Array {
  const [head, tail] = text.split('::', 2) as [string, string?]
  const front = groupsOf(head)
  const back = groupsOf(tail ?? '')
  const bytes = new Uint8Array(2 * GROUPS)
  const view = new DataView(bytes.buffer)
  front.forEach((group, index) => {
    view.setUint16(2 * index, group)
  })
  back.forEach((group, index) => {
    view.setUint16(2 * (GROUPS - back.length + index), group)
  })
  return bytes
}

/** `isIP` has checked the text: a dot can only be in a last part that is an IPv4 address. */
function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number]
    return [a * 256 + b, c * 256 + d]
  })
}

/** Whether two addresses of one family agree in their first bits. */
export function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  if (a.length !== b.length) return false
  const whole = bits >> 3
  for (let i = 0; i < whole; i++) {
    if (a[i] !== b[i]) return false
  }
  const rest = bits & 7
  return rest === 0 || (a[whole]! ^ b[whole]!) >> (8 - rest) === 0
}
