/**
 * The entries of the lists of a guard: IP addresses, blocks and ranges of them, and names, each with an
 * optional port. `x.test` is that host alone, `.x.test` also everything below it, `*.x.test` only what is
 * below. An entry that cannot be read is an error: it would silently refuse, or allow, nothing.
 */
import { domainToASCII } from 'node:url'
import { ipBytes } from '../base/address/ip-address.ts'
import { type IpSet, readIpSet } from '../base/address/ip-set.ts'
import { embeddedIpv4, mapped, withoutMapping } from './embedded-ipv4.ts'

/** What entries are compared with. */
export interface HostFacts {
  /** As it was asked for. */
  readonly hostname: string
  /** Lower case, in the form of DNS, without a dot at the end; null for an IP literal. */
  readonly name: string | null
  /** Null for a name that is not resolved yet. */
  readonly address: Uint8Array | null
  readonly port: number
}

export interface HostEntry {
  /** As it is in the list. */
  readonly text: string
  /** Null for any port. */
  readonly port: number | null
  readonly names: ((name: string) => boolean) | null
  readonly addresses: IpSet | null
}

export const MAX_PORT = 65_535
/** One label of a name, also of one that is not a host name by the letter, such as `_x` (RFC 2181 §11). */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/

/** Null for what is not an entry. */
export function readHostEntry(text: unknown): HostEntry | null {
  if (typeof text !== 'string') return null
  const { host, port } = splitPort(text)
  if (port !== null && (port < 1 || port > MAX_PORT)) return null
  const addresses = readAddresses(host)
  const names = addresses === null ? readNames(host) : null
  return addresses === null && names === null ? null : { text, port, names, addresses }
}

/** The first entry that applies, by the name or by the address itself. */
export function findEntry(list: readonly HostEntry[], facts: HostFacts): HostEntry | null {
  return list.find((entry) => applies(entry, facts)) ?? null
}

/** As `findEntry`, and by any IPv4 address inside the address. */
export function findBroadly(list: readonly HostEntry[], facts: HostFacts): HostEntry | null {
  const inner = facts.address === null ? [] : embeddedIpv4(facts.address)
  return (
    findEntry(list, facts) ??
    list.find((entry) => inner.some((address) => applies(entry, { ...facts, name: null, address }))) ??
    null
  )
}

function applies({ port, names, addresses }: HostEntry, facts: HostFacts): boolean {
  if (port !== null && port !== facts.port) return false
  if (names !== null) return facts.name !== null && names(facts.name)
  const { address } = facts
  return address !== null && (addresses!(address) || addresses!(withoutMapping(address)))
}

/**
 * A set inside the IPv4-mapped addresses means the IPv4 addresses themselves, however they are written. The
 * whole mapped block is an address form, which may be listed as such.
 */
function readAddresses(text: string): IpSet | null {
  const set = readIpSet(text)
  if (set === null) return null
  const isOfForm = set(ipBytes('::ffff:0.0.0.0')!) && set(ipBytes('::ffff:255.255.255.255')!)
  const isWider = set(ipBytes('::fffe:255.255.255.255')!) || set(ipBytes('::1:0:0:0')!)
  if (isOfForm || isWider) return set
  return (address) => set(address) || (address.length === 4 && set(mapped(address)))
}

/** A bare IPv6 address (`::1`) has colons, too, and cannot have a port. */
export function splitPort(text: string): { host: string; port: number | null } {
  const end = text.lastIndexOf(':')
  const isBareAddress = text.indexOf(':') !== end && !text.startsWith('[')
  const digits = /^[0-9]{1,5}$/.test(text.slice(end + 1))
  if (end === -1 || isBareAddress || !digits) return { host: text, port: null }
  return { host: text.slice(0, end), port: Number(text.slice(end + 1)) }
}

function readNames(text: string): ((name: string) => boolean) | null {
  const below = text.startsWith('*.')
  const both = text.startsWith('.')
  const name = plainName(below ? text.slice(2) : both ? text.slice(1) : text)
  if (name === null) return null
  const ending = `.${name}`
  return (host) => (!below && host === name) || ((below || both) && host.endsWith(ending))
}

function plainName(text: string): string | null {
  const name = domainToASCII(text.endsWith('.') ? text.slice(0, -1) : text)
  return name !== '' && name.split('.').every((label) => LABEL.test(label)) && !endsInNumber(name)
    ? name
    : null
}

/** A parser may take it for an IPv4 address, as in `10.1` or `0x7f.1` (WHATWG URL, "ends in a number"). */
export function endsInNumber(name: string): boolean {
  return /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name)
}
