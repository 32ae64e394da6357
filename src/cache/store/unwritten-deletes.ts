/**
 * Removals that a store could not carry out: it was locked, or out of reach. Each is remembered and tried
 * again, and until it is done its URL is a miss. Otherwise the page from before a change would come back with
 * the store.
 */

import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { isThenable } from '../../base/loop/thenable.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import type { CacheKey, CacheValue } from './cache-store.ts'
import { urlOf } from './store-arguments.ts'

/** URLs that are remembered. Beyond that, nothing that was stored before is used any more. */
const MAX_URLS = 10_000

/** The first repetition, and the longest time between two. */
const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1000

/** Removes all of a URL. `patient`: nobody waits, so that it may take some milliseconds. */
export type Removal = (key: CacheKey, patient: boolean) => void | Promise<void>

export class UnwrittenDeletes {
  readonly #remove: Removal
  readonly #isSynchronous: boolean
  /** By URL. The key is the token of its last removal. */
  readonly #pending = new Map<string, CacheKey>()
  #trustedFrom = Number.NEGATIVE_INFINITY
  #wait = FIRST_WAIT_MS
  #timer: ReturnType<typeof setTimeout> | null = null

  /** `isSynchronous`: a removal is cheap enough to be tried again with each use of the URL. */
  constructor(remove: Removal, isSynchronous: boolean) {
    this.#remove = remove
    this.#isSynchronous = isSynchronous
  }

  /** Removes now. What fails is remembered, and thrown. */
  delete(key: CacheKey, patient = false): void | Promise<void> {
    const { origin, method, path } = key
    const url = urlOf(key)
    // Before it is done, so that nothing is found meanwhile.
    const token = { origin, method, path }
    this.#remember(url, token)
    const forget = (): void => {
      if (this.#pending.get(url) === token) this.#pending.delete(url)
      if (this.#pending.size === 0) this.stop()
    }
    const fail = (error: unknown): never => {
      this.#schedule()
      throw error
    }
    try {
      const done = this.#remove(token, patient)
      if (isThenable(done)) return done.then(forget, fail)
      forget()
    } catch (error) {
      fail(error)
    }
  }

  /** Whether what is stored for the key must not be used. */
  hides(key: CacheKey): boolean {
    if (this.#pending.size === 0 || !this.#pending.has(urlOf(key))) return false
    if (this.#isSynchronous) this.#try(key)
    return true
  }

  /** Whether a new response may be stored under the key: what is remembered would remove it. */
  admits(key: CacheKey): boolean {
    return !this.hides(key) || !this.#pending.has(urlOf(key))
  }

  /** Resolves when nothing is remembered for the key; rejects if that cannot be. */
  async settle(key: CacheKey): Promise<void> {
    if (this.#pending.has(urlOf(key))) await this.delete(key)
  }

  /** False for what may have been removed by one that was forgotten. */
  isTrusted({ cachedAt }: CacheValue): boolean {
    return cachedAt >= this.#trustedFrom
  }

  /** Nothing is tried again by itself. */
  stop(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
    this.#wait = FIRST_WAIT_MS
  }

  #remember(url: string, token: CacheKey): void {
    this.#pending.delete(url)
    if (this.#pending.size >= MAX_URLS) {
      this.#pending.clear()
      this.#trustedFrom = Date.now()
    }
    this.#pending.set(url, token)
  }

  #try(key: CacheKey): void {
    try {
      ignoreRejection(this.delete(key))
    } catch {
      // Reported when it failed first.
    }
  }

  #schedule(): void {
    if (this.#timer !== null || this.#pending.size === 0) return
    this.#timer = startTimer(() => void this.#retry(), this.#wait)
    this.#timer.unref?.()
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT_MS)
  }

  /** Until one fails: the next would as well. */
  async #retry(): Promise<void> {
    this.#timer = null
    try {
      for (const key of [...this.#pending.values()]) await this.delete(key, true)
    } catch {
      this.#schedule()
    }
  }
}
