/**
 * The addresses of a name: reading what a lookup found, forgetting what is too old, and taking them in turn.
 */
import { loadNet } from '../../base/node/lazy-modules.ts'

/** One address of a name. */
export interface DnsRecord {
  /** An IP address, without brackets. */
  address: string
  /** 4 for IPv4, 6 for IPv6. */
  family: 4 | 6
  /** Milliseconds for which it may be used. */
  ttl: number
  /** Replaces the port of the origin. */
  port?: number | undefined
  /** When it was looked up, as in `Date.now()`. */
  timestamp?: number | undefined
}

/** The addresses of one family. */
export interface DnsFamilyRecords {
  /** The addresses, which are used in turn. */
  ips: DnsRecord[]
  /** The one that was used last. */
  offset?: number | undefined
}

/** What a storage keeps for a name. */
export interface DnsRecords {
  /** The addresses by family; null for a family that has none. */
  records: { 4: DnsFamilyRecords | null; 6: DnsFamilyRecords | null }
  /** Odd if IPv6 came first the last time. */
  offset?: number | undefined
}

export type Accepts = (record: DnsRecord) => boolean

const FAMILIES = [4, 6] as const
const MAX_PORT = 65_535

/** 0 for anything that cannot be the host of a URL: a zone names an interface of this machine. */
export function familyOf(address: unknown): 0 | 4 | 6 {
  if (typeof address !== 'string' || address.includes('%')) return 0
  return loadNet().isIP(address) as 0 | 4 | 6
}

/** Null for a port that no origin can have. */
export function portOf(port: unknown): number | null {
  const number = typeof port === 'string' && port !== '' ? Number(port) : port
  const isPort = Number.isInteger(number) && (number as number) > 0 && (number as number) <= MAX_PORT
  return isPort ? (number as number) : null
}

/** Null if there is no usable address. Throws for what is not a list. */
export function readAddresses(addresses: unknown, maxTTL: number, timestamp: number): DnsRecords | null {
  const lists: Record<4 | 6, DnsRecord[]> = { 4: [], 6: [] }
  const known = new Set<string>()
  for (const given of (addresses ?? []) as Iterable<Partial<DnsRecord> | null | undefined>) {
    const family = familyOf(given?.address)
    if (family === 0) continue
    const { address, ttl } = given as DnsRecord
    const port = portOf((given as DnsRecord).port)
    const key = `${address} ${port}`
    if (known.has(key)) continue
    known.add(key)
    const kept = typeof ttl === 'number' && ttl >= 0 ? Math.min(ttl, maxTTL) : maxTTL
    const record: DnsRecord = { address, family, ttl: kept, timestamp }
    lists[family].push(port === null ? record : { ...record, port })
  }
  if (known.size === 0) return null
  const group = (ips: DnsRecord[]): DnsFamilyRecords | null => (ips.length === 0 ? null : { ips })
  return { records: { 4: group(lists[4]), 6: group(lists[6]) } }
}

export function lowestTtl({ records }: DnsRecords): number {
  return Math.min(...FAMILIES.flatMap((family) => records[family]?.ips ?? []).map(({ ttl }) => ttl))
}

/** Takes out the addresses that are too old; false if none is left. */
export function dropExpired({ records }: DnsRecords, at: number): boolean {
  let left = 0
  for (const family of FAMILIES) {
    const list = records[family]
    if (!Array.isArray(list?.ips)) continue
    if (!list.ips.every((record) => isFresh(record, at))) {
      list.ips = list.ips.filter((record) => isFresh(record, at))
    }
    left += list.ips.length
  }
  return left > 0
}

/** A time in the future is that of a clock which was set back since. */
function isFresh({ ttl, timestamp }: DnsRecord, at: number): boolean {
  if (timestamp === undefined) return true
  return at >= timestamp && at - timestamp < ttl
}

/** A copy with the addresses that pass. */
export function onlyAccepted(entry: DnsRecords, accepts: Accepts): DnsRecords {
  const part = (list: DnsFamilyRecords | null): DnsFamilyRecords | null => {
    const ips = list?.ips.filter(accepts) ?? []
    return ips.length === 0 ? null : { ...list, ips }
  }
  return { ...entry, records: { 4: part(entry.records[4]), 6: part(entry.records[6]) } }
}

/** The next address whose turn it is; null if none passes. The preferred family comes first. */
export function takeTurn(
  entry: DnsRecords,
  affinity: 4 | 6 | null,
  dualStack: boolean,
  accepts: Accepts | null,
): DnsRecord | null {
  let first = affinity
  if (first === null) {
    entry.offset = ((entry.offset ?? 1) + 1) % 2
    first = entry.offset === 0 ? 4 : 6
  }
  const record = takeFrom(entry.records[first], accepts)
  return record !== null || !dualStack ? record : takeFrom(entry.records[first === 4 ? 6 : 4], accepts)
}

function takeFrom(list: DnsFamilyRecords | null | undefined, accepts: Accepts | null): DnsRecord | null {
  const ips = list?.ips ?? []
  for (let tried = 0; tried < ips.length; tried++) {
    const offset = ((list!.offset ?? -1) + 1) % ips.length
    list!.offset = offset
    const record = ips[offset]!
    if (accepts === null || accepts(record)) return record
  }
  return null
}
