/** The options of the dns interceptor: their defaults and checks. */
import { OptionNames } from '../../option-names.ts'
import { type Check, type Filled, isBoolean, isFunction, oneOf, option, readOptions } from '../../options.ts'
import type { DnsRecord, DnsRecords } from './records.ts'
import { type DnsStorage, MapStorage } from './storage.ts'

/**
 * What a `lookup` function gets besides the origin: all that `dns.lookup` needs, and the settings of the
 * interceptor.
 */
export interface DnsLookupOptions {
  /** All addresses are wanted. */
  readonly all: true
  /** 0 for both. */
  readonly family: 0 | 4 | 6
  /** Addresses of IPv4 come first. */
  readonly order: 'ipv4first'
  /** The family to prefer; null for none. */
  readonly affinity: 4 | 6 | null
  /** Whether both families are used. */
  readonly dualStack: boolean
  /** Most milliseconds for which an address is used. */
  readonly maxTTL: number
  /** Most names that are remembered. */
  readonly maxItems: number
}

/** An address as a `lookup` function gives it; without a `ttl`, it is kept for `maxTTL`. */
export type DnsAddress = Omit<DnsRecord, 'ttl' | 'timestamp' | 'family'> & {
  family?: number | undefined
  ttl?: number | undefined
}

/** Finds the addresses of a host. */
export type DnsLookup = (
  origin: URL,
  options: DnsLookupOptions,
  callback: (error: Error | null, addresses?: Iterable<DnsAddress>) => void,
) => void

interface DnsPicker {
  pick(origin: URL, records: DnsRecords, affinity: 4 | 6 | null): DnsRecord | null | undefined
}

/**
 * Chooses one of the addresses. The type of a method, so that those fit which do not expect the null, as in
 * undici's types.
 */
export type DnsPick = DnsPicker['pick']

/** Options of `interceptors.dns`. */
export interface DnsOptions {
  /** Most milliseconds for which an address is used without another lookup. Default: 10000. */
  maxTTL?: number | null | undefined
  /** Most names that are remembered; the least recently used one makes room. Default: Infinity. */
  maxItems?: number | null | undefined
  /** Whether both families are used. Default: true. */
  dualStack?: boolean | null | undefined
  /** The family to prefer; without `dualStack`, the only one. Default: none, or 4 without `dualStack`. */
  affinity?: 4 | 6 | null | undefined
  /** Default: `dns.lookup`. */
  lookup?: DnsLookup | null | undefined
  /** Default: families and addresses in turn. */
  pick?: DnsPick | null | undefined
  /** Where records are kept, by host name. Default: in memory. */
  storage?: DnsStorage | null | undefined
}

export interface DnsSettings extends Filled<Omit<DnsOptions, 'affinity' | 'lookup' | 'pick'>> {
  readonly affinity: 4 | 6 | null
  /** Null for that of the runtime. */
  readonly lookup: DnsLookup | null
  readonly pick: DnsPick | null
}

const isTtl: Check = (value) => typeof value === 'number' && value >= 0
const isCount: Check = (value) => typeof value === 'number' && value > 0

/** Methods may be those of a class, but not of a polluted `Object.prototype`. */
const isStorage: Check = (value) => {
  if (typeof value !== 'object' || value === null) return false
  return ['get', 'set', 'full', 'delete'].every((name) => {
    if (name in Object.prototype && !Object.hasOwn(value, name)) return false
    return typeof (value as Record<string, unknown>)[name] === 'function'
  })
}

const OPTIONS = {
  maxTTL: option(10_000, isTtl, 'Invalid maxTTL. Must be a positive number'),
  maxItems: option(
    Number.POSITIVE_INFINITY,
    isCount,
    'Invalid maxItems. Must be a positive number and greater than zero',
  ),
  affinity: option<4 | 6 | null>(null, oneOf(4, 6), 'Invalid affinity. Must be either 4 or 6'),
  dualStack: option(true, isBoolean, 'Invalid dualStack. Must be a boolean'),
  lookup: option<DnsLookup | null>(null, isFunction, 'Invalid lookup. Must be a function'),
  pick: option<DnsPick | null>(null, isFunction, 'Invalid pick. Must be a function'),
  storage: option<DnsStorage | null>(
    null,
    isStorage,
    'Invalid storage. Must be a object with methods: { get, set, full, delete }',
  ),
}

const NAMES = new OptionNames('interceptors.dns()', OPTIONS)

export function readDnsOptions(options: DnsOptions | null | undefined): DnsSettings {
  const read = readOptions(OPTIONS, options, NAMES)
  const { dualStack, affinity, storage } = read
  return {
    ...read,
    affinity: dualStack ? affinity : (affinity ?? 4),
    storage: storage ?? new MapStorage(read.maxItems),
  }
}
