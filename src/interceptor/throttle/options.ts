/** The options of a throttle: their defaults and checks. */
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import type { OwnOrigin } from '../../dispatcher/compose.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import {
  type Check,
  type Filled,
  finiteAbove,
  finiteFrom,
  integerFrom,
  isBoolean,
  option,
  readLoosely,
} from '../../options.ts'
import { isStore, SharedStore, type SharedStoreOptions } from '../../redis/shared-store.ts'
import { originKey } from '../../relay/origin-key.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/**
 * The key of a request: requests of one key share its limits. Null and undefined: the request is not
 * throttled.
 */
export type ThrottleKey = (opts: DispatchOptions) => string | null | undefined

/** Options of `interceptors.throttle`. */
export interface ThrottleOptions {
  /** Most requests of a key at a time, until their responses are complete. Default: no limit. */
  concurrency?: number | null | undefined
  /** Most requests at a time over all keys, which take turns. Default: no limit. */
  totalConcurrency?: number | null | undefined
  /** Most requests of a key per second; may be a fraction. Default: no limit. */
  rate?: number | null | undefined
  /** How many a key that was idle may send at once. Default: 1; 10 if `adaptive`. */
  burst?: number | null | undefined
  /** What the limits apply to: each origin, or each key that a function returns. Default: `'origin'`. */
  per?: 'origin' | ThrottleKey | null | undefined
  /** Finds the rate that the server accepts, up to `rate`. Default: false. */
  adaptive?: boolean | null | undefined
  /** Most requests of a key that wait; others fail with a `ThrottledError`. Default: no limit. */
  maxQueue?: number | null | undefined
  /**
   * The longest wait that the server may ask for with `retry-after`, in milliseconds. Requests that would
   * wait longer fail. Default: 300 000.
   */
  maxRetryAfter?: number | null | undefined
  /** Whether the fields of a response about the quota of its client count. Default: true. */
  quotaFields?: boolean | null | undefined
  /** Shares `rate` and `concurrency` with other processes. Default: none. */
  store?: SharedStoreOptions | null | undefined
}

export interface ThrottleSettings extends Filled<Omit<ThrottleOptions, 'per' | 'store'>> {
  readonly store: SharedStore | null
  /** Null for the origin. */
  readonly keyOf: ThrottleKey | null
}

/** So few that a queue can be kept for each. */
const MAX_PRIORITY = 10

/** What a key may send at once while its rate is not known. */
const ADAPTIVE_BURST = 10

const countFrom =
  (least: number): Check =>
  (value) =>
    value === Number.POSITIVE_INFINITY || integerFrom(least)(value)
const isRate: Check = (value) => value === Number.POSITIVE_INFINITY || finiteAbove(0)(value)
const isPer: Check = (value) => value === 'origin' || typeof value === 'function'

const NO_LIMIT = Number.POSITIVE_INFINITY

const OPTIONS = {
  adaptive: option(false, isBoolean),
  per: option<'origin' | ThrottleKey>('origin', isPer),
  concurrency: option(NO_LIMIT, countFrom(1)),
  totalConcurrency: option(NO_LIMIT, countFrom(1)),
  rate: option(NO_LIMIT, isRate),
  burst: option<number | null>(null, integerFrom(1)),
  maxQueue: option(NO_LIMIT, countFrom(0)),
  maxRetryAfter: option(300e3, finiteFrom(0)),
  quotaFields: option(true, isBoolean),
  store: option<SharedStoreOptions | null>(null, isStore),
}

const NAMES = new OptionNames('interceptors.throttle()', OPTIONS)

export function readThrottleOptions(options: ThrottleOptions | null | undefined): ThrottleSettings {
  const { per, burst, store, ...same } = readLoosely(OPTIONS, options, NAMES)
  if (store !== null && same.adaptive) throw new InvalidArgumentError('adaptive cannot be shared by a store')
  const keyOf = per === 'origin' ? null : per
  return {
    ...same,
    keyOf,
    burst: burst ?? (same.adaptive ? ADAPTIVE_BURST : 1),
    store: store === null ? null : new SharedStore(store),
  }
}

/** Null if the request is not throttled. */
export function readKey(opts: DispatchOptions, { keyOf }: ThrottleSettings, own: OwnOrigin): string | null {
  const key: unknown = keyOf === null ? originKey(opts, own) : keyOf(opts)
  if (key === null || key === undefined) return null
  if (typeof key === 'string') return key
  ignoreRejection(key)
  throw new InvalidArgumentError('the key of a throttle must be a string')
}

export function readPriority({ priority }: DispatchOptions): number {
  if (priority === undefined || priority === null) return 0
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY) {
    throw new InvalidArgumentError('invalid priority')
  }
  return priority
}
