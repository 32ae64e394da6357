/**
 * The addresses of names: one lookup at a time for each, kept until they are too old, and handed out in turn.
 */

import { RecentKeys } from '../../base/collection/recent-keys.ts'
import { captureContext, runIn } from '../../base/loop/call-context.ts'
import { onRejection } from '../../base/loop/thenable.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { loadDns } from '../../base/node/lazy-modules.ts'
import { coverPollution } from '../../base/object/own-options.ts'
import { ConnectTimeoutError } from '../../errors.ts'
import { addressOrigin, type Destination } from './destination.ts'
import type { DnsLookup, DnsLookupOptions, DnsSettings } from './options.ts'
import {
  type Accepts,
  type DnsRecord,
  type DnsRecords,
  dropExpired,
  lowestTtl,
  onlyAccepted,
  readAddresses,
  takeTurn,
} from './records.ts'
import { StoredNames } from './storage.ts'

/** As long as a connection may take to be made by default: a function of the caller may never call back. */
const LOOKUP_TIMEOUT = 10_000

/** Milliseconds for which an address is avoided after a connection to it failed. */
const AVOIDED_FOR = 10_000

/** Waits for a lookup, and does not throw. Without an error or records, the name has no usable address. */
export type Waiter = (error: Error | null | undefined, entry: DnsRecords | null) => void

export class DnsResolver {
  readonly #settings: DnsSettings
  readonly #names: StoredNames
  /** Addresses, by name, to which a connection failed: others are used meanwhile. */
  readonly #unreached = new RecentKeys(AVOIDED_FOR)
  /** By host name. */
  readonly #lookups = new Map<string, Set<Waiter>>()

  constructor(settings: DnsSettings) {
    this.#settings = settings
    this.#names = new StoredNames(settings.storage)
  }

  /** Whether the errors of lookups are the caller's own. */
  get isForeign(): boolean {
    return this.#settings.lookup !== null
  }

  /** Null if the name has to be looked up. Throws what the storage throws. */
  find({ hostname }: Destination): DnsRecords | null {
    const entry = this.#names.get(hostname) as DnsRecords | null | undefined
    // A storage may return anything.
    if (typeof entry?.records !== 'object' || entry.records === null) return null
    if (dropExpired(entry, Date.now())) return entry
    this.#names.delete(hostname)
    return null
  }

  /** The waiter may be called before this returns. */
  lookUp({ hostname, origin }: Destination, waiter: Waiter): void {
    const others = this.#lookups.get(hostname)
    if (others !== undefined) {
      others.add(waiter)
      return
    }
    const waiters = new Set([waiter])
    this.#lookups.set(hostname, waiters)
    // The storage is asked in the context of the request that needs the addresses.
    const context = captureContext()
    const done = (error: Error | null | undefined, addresses?: unknown): void => {
      // A lookup may call back twice, or long after it has thrown.
      if (this.#lookups.get(hostname) !== waiters) return
      this.#lookups.delete(hostname)
      clearTimer(timer)
      runIn(context, this.#report, this, hostname, waiters, error, addresses)
    }
    const timer = startTimer(() => {
      const what = `lookup of: ${hostname}, timeout: ${LOOKUP_TIMEOUT}ms`
      done(new ConnectTimeoutError(`Connect Timeout Error (${what})`))
    }, LOOKUP_TIMEOUT)
    try {
      const { lookup } = this.#settings
      const returned: unknown = (lookup ?? systemLookup)(new URL(origin), this.#lookupOptions(), done)
      onRejection(returned, (reason) => done(reason as Error))
    } catch (error) {
      done(error as Error)
    }
  }

  #lookupOptions(): DnsLookupOptions {
    const { affinity, dualStack, maxTTL, maxItems } = this.#settings
    const family = dualStack ? 0 : affinity!
    return coverPollution({ all: true, family, order: 'ipv4first', affinity, dualStack, maxTTL, maxItems })
  }

  #report(
    hostname: string,
    waiters: ReadonlySet<Waiter>,
    error: Error | null | undefined,
    addresses: unknown,
  ): void {
    let entry: DnsRecords | null = null
    let problem = error
    try {
      if (!problem) entry = this.#store(hostname, addresses)
    } catch (thrown) {
      problem = thrown as Error
    }
    for (const waiter of waiters) waiter(problem, entry)
  }

  #store(hostname: string, addresses: unknown): DnsRecords | null {
    const { maxTTL } = this.#settings
    const entry = readAddresses(addresses, maxTTL, Date.now())
    if (entry !== null) this.#names.set(hostname, entry, lowestTtl(entry), maxTTL)
    return entry
  }

  /** The request has been given up. */
  leave({ hostname }: Destination, waiter: Waiter): void {
    this.#lookups.get(hostname)?.delete(waiter)
  }

  /** The address does not belong to the name any more. */
  forget({ hostname }: Destination): void {
    this.#names.delete(hostname)
  }

  /**
   * The origin, with an address, to which a request goes next; null if there is none that it has not tried.
   * An address that is avoided is used if all are.
   */
  choose(destination: Destination, entry: DnsRecords, tried: ReadonlySet<string> | null): string | null {
    const isUntried: Accepts | null =
      tried === null ? null : (record) => !tried.has(addressOrigin(destination, record) ?? '')
    if (this.#unreached.isEmpty) return this.#pick(destination, entry, isUntried)
    const isGood: Accepts = (record) => {
      const origin = addressOrigin(destination, record) ?? ''
      return tried?.has(origin) !== true && !this.#unreached.has(keyOf(destination, origin))
    }
    return this.#pick(destination, entry, isGood) ?? this.#pick(destination, entry, isUntried)
  }

  #pick(destination: Destination, entry: DnsRecords, accepts: Accepts | null): string | null {
    const { pick, affinity, dualStack } = this.#settings
    let record: DnsRecord | null | undefined
    if (pick === null) record = takeTurn(entry, affinity, dualStack, accepts)
    else {
      const offered = accepts === null ? entry : onlyAccepted(entry, accepts)
      if (offered.records[4] === null && offered.records[6] === null) return null
      record = pick(new URL(destination.origin), offered, affinity)
      // A caller's function may return what it was not offered.
      if (record && accepts?.(record) === false) return null
    }
    return record ? addressOrigin(destination, record) : null
  }

  /** There is a connection, or none was possible. */
  onTried(destination: Destination, target: string, isReached: boolean): void {
    const key = keyOf(destination, target)
    if (isReached) this.#unreached.delete(key)
    else this.#unreached.add(key)
  }
}

/** An address that has the wrong certificate for one name may have the right one for another. */
function keyOf({ hostname }: Destination, target: string): string {
  return `${hostname} ${target}`
}

const systemLookup: DnsLookup = (origin, { all, family, order }, callback) => {
  loadDns().lookup(origin.hostname, coverPollution({ all, family, order }), callback)
}
