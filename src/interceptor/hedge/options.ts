/** The options of the hedge interceptor: their defaults and checks. */
import { InvalidArgumentError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import {
  type Filled,
  finiteFrom,
  isAnything,
  isString,
  oneOf,
  option,
  readLoosely,
  setOption,
} from '../../options.ts'
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

export interface HedgeSettings extends Filled<Pick<HedgeOptions, 'delay' | 'maxAttempts'>> {
  readonly methods: ReadonlySet<string>
  readonly budget: RetryBudget | null
}

const OPTIONS = {
  delay: option<number | null>(null, finiteFrom(0)),
  // More attempts at a time help no one, and multiply the load.
  maxAttempts: option(2, oneOf(1, 2, 3, 4, 5)),
  methods: setOption(['GET', 'HEAD', 'OPTIONS'], isString),
  budget: option<RetryBudget | null>(null, isAnything, undefined, readBudget),
}

const NAMES = new OptionNames('interceptors.hedge()', OPTIONS)

export function readHedgeOptions(options: HedgeOptions): HedgeSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options must be an object')
  }
  const { delay, ...same } = readLoosely(OPTIONS, options, NAMES)
  if (delay === null) throw new InvalidArgumentError('invalid delay')
  return { delay, ...same }
}
