/** The options of the hedge interceptor: their defaults and checks. */
import { type Check, finiteFrom, LooseReader } from '../../dispatcher/option-reader.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { HttpMethod } from '../../request/dispatch-options.ts'
import { type RetryBudget, type RetryBudgetOptions, readBudget } from '../retry-budget.ts'

/** Options of `interceptors.hedge`. */
export interface HedgeOptions {
  /** Milliseconds without a response head after which another attempt begins. */
  delay: number
  /** Attempts of one request at a time, from 1 to 5. Default: 2. */
  maxAttempts?: number | null | undefined
  /** Methods that may be sent twice. Default: GET, HEAD, OPTIONS. */
  methods?: readonly HttpMethod[] | null | undefined
  /** Limits the additional attempts for each origin; `true` for the defaults. Default: false. */
  budget?: RetryBudgetOptions | boolean | null | undefined
}

export interface HedgeSettings {
  readonly delay: number
  readonly maxAttempts: number
  readonly methods: ReadonlySet<string>
  readonly budget: RetryBudget | null
}

/** More attempts at a time help no one, and multiply the load. */
const MOST_ATTEMPTS = 5

const isCount: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_ATTEMPTS
const isMethods: Check = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')

export function readHedgeOptions(options: HedgeOptions): HedgeSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options must be an object')
  }
  const from = new LooseReader<keyof HedgeOptions>(options)
  const delay = from.read<number | null>('delay', null, finiteFrom(0), 'invalid delay')
  if (delay === null) throw new InvalidArgumentError('invalid delay')
  const methods = ['GET', 'HEAD', 'OPTIONS']
  return {
    delay,
    maxAttempts: from.read('maxAttempts', 2, isCount, 'invalid maxAttempts'),
    methods: new Set(from.read('methods', methods, isMethods, 'invalid methods')),
    budget: readBudget(from.raw('budget')),
  }
}
