/**
 * Reads the notations for a set of IP addresses: one address, a block (`10.0.0.0/8`, `fe80::/10`; RFC 4632
 * §3.1, RFC 4291 §2.3) and a range (`10.0.0.1-10.0.0.9`, both included). An address of the other family is
 * never in a set.
 */
import { ipBytes, samePrefix } from './ip-address.ts'
import { withoutBrackets } from './server-name.ts'

/** Whether an address, as its 4 or 16 bytes, is in the set. */
export type IpSet = (address: Uint8Array) => boolean

/** Null for what is none of them. */
export function readIpSet(text: string): IpSet | null {
  return readAddress(text) ?? readBlock(text) ?? readRange(text)
}

function readAddress(text: string): IpSet | null {
  const bytes = ipBytes(withoutBrackets(text))
  return bytes && ((address) => samePrefix(address, bytes, bytes.length * 8))
}

function readBlock(text: string): IpSet | null {
  const [first, length, ...more] = text.split('/') as [string, string?, ...string[]]
  if (length === undefined || more.length > 0 || !/^[0-9]{1,3}$/.test(length)) return null
  const bytes = ipBytes(withoutBrackets(first))
  const bits = Number(length)
  if (bytes === null || bits > bytes.length * 8) return null
  return (address) => samePrefix(address, bytes, bits)
}

function readRange(text: string): IpSet | null {
  const [first, last, ...more] = text.split('-').map((part) => ipBytes(withoutBrackets(part)))
  if (!first || !last || more.length > 0) return null
  return (address) =>
    address.length === first.length &&
    address.length === last.length &&
    Buffer.compare(first, address) <= 0 &&
    Buffer.compare(address, last) <= 0
}
