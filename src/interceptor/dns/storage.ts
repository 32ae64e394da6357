/** Where records are kept, and which of them make room for others. */
import { now } from '../../base/loop/clock.ts'
import type { DnsRecords } from './records.ts'

/** Keeps the records of names. All methods are synchronous. */
export interface DnsStorage {
  /** The number of names. */
  readonly size?: number
  /** Null or undefined if the name is not known. */
  get(name: string): DnsRecords | null | undefined
  /** `ttl`: milliseconds until the first of the addresses is too old. */
  set(name: string, records: DnsRecords, options: { ttl: number }): void
  /** Forgets a name, whether or not it is known. */
  delete(name: string): void
  /** Whether there is no room for another name. */
  full(): boolean
}

export class MapStorage extends Map<string, DnsRecords> implements DnsStorage {
  readonly #maxItems: number

  constructor(maxItems: number) {
    super()
    this.#maxItems = maxItems
  }

  full(): boolean {
    return this.size >= this.#maxItems
  }
}

/**
 * The names that are in a storage, the least recently used first, with the time after which they are of no
 * use. Without it, a program that talks to ever new names would keep all of them.
 */
export class StoredNames {
  readonly #storage: DnsStorage
  readonly #expiries = new Map<string, number>()

  constructor(storage: DnsStorage) {
    this.#storage = storage
  }

  get(name: string): unknown {
    const expiry = this.#expiries.get(name)
    if (expiry !== undefined) this.#note(name, expiry)
    return this.#storage.get(name)
  }

  /** Names that are too old, and then those that were not used for the longest time, make room. */
  set(name: string, records: DnsRecords, ttl: number, longestTtl: number): void {
    const time = now()
    const isNew = !this.#storage.get(name)
    this.#expiries.delete(name)
    for (const [oldest, expiry] of this.#expiries) {
      if (expiry > time && !(isNew && this.#storage.full())) break
      this.delete(oldest)
    }
    // Others may have filled it.
    if (isNew && this.#storage.full()) return
    this.#note(name, time + longestTtl)
    this.#storage.set(name, records, { ttl })
  }

  delete(name: string): void {
    this.#expiries.delete(name)
    this.#storage.delete(name)
  }

  #note(name: string, expiry: number): void {
    this.#expiries.delete(name)
    this.#expiries.set(name, expiry)
  }
}
