/**
 * The options of the retry interceptor, as a table: the default of each, its check, and the message if that
 * fails.
 */
import type { OwnOrigin } from '../../dispatcher/compose.ts'
import type { RetrySafety } from '../../errors.ts'
import {
  type Check,
  type Filled,
  finiteAbove,
  finiteFrom,
  integerFrom,
  isBoolean,
  isFunction,
  isString,
  type OptionTable,
  oneOf,
  option,
  ownOptions,
  readLoosely,
  readOptions,
  setOption,
} from '../../options.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions, HttpMethod } from '../../request/dispatch-options.ts'
import { type RetryBudget, type RetryBudgetOptions, readBudget } from '../retry-budget.ts'

/** How often a request has failed so far, from 1 on. */
export interface RetryState {
  /** The number of failed attempts, this one included. */
  counter: number
}

/** The dispatch options of a request, with the options of its retries. */
export interface RetryDispatchOptions extends DispatchOptions {
  /** Those of this request win over those of the interceptor. */
  retryOptions?: RetryOptions | null | undefined
}

/** What an attempt has failed with. */
export interface RetriedError extends Error {
  /** Names the kind of failure, as `ECONNRESET` or `UND_ERR_SOCKET`. */
  code?: string
  /** Of a bad response. */
  statusCode?: number
  /** What the dispatcher knows about sending it again. */
  retrySafety?: RetrySafety
}

/** What a retry policy knows beside the error. */
export interface RetryContext {
  /** How often the request has failed so far. */
  state: RetryState
  /** The options of the request, with all options of its retries filled in. */
  opts: DispatchOptions & { retryOptions?: FilledRetryOptions }
}

/** Options with their defaults; null for no limit. They are optional as in the types of undici. */
export type FilledRetryOptions = {
  [Name in keyof RetryOptions]?: Name extends 'deadline' | 'maxRetryAfter'
    ? RetryOptions[Name]
    : NonNullable<RetryOptions[Name]>
}

/** `null` sends the request again, now; an error gives up. */
export type OnRetryCallback = (result?: Error | null) => void

/**
 * Decides whether and when a request is sent again. A timer that it returns is cleared when the request is
 * aborted.
 */
export type RetryCallback = (error: RetriedError, context: RetryContext, callback: OnRetryCallback) => unknown

/** Options of `interceptors.retry`, `RetryAgent` and `RetryHandler`. */
export interface RetryOptions {
  /** A final bad status is an error; `false`: its response is delivered. Default: true. */
  throwOnError?: boolean | null | undefined
  /** Decides instead of the lists and limits below. */
  retry?: RetryCallback | null | undefined
  /** How often a request is sent again. Default: 5. */
  maxRetries?: number | null | undefined
  /** The longest wait, in milliseconds. Default: 30 000. */
  maxTimeout?: number | null | undefined
  /** The first wait, in milliseconds. Default: 500. */
  minTimeout?: number | null | undefined
  /** What each wait is multiplied by to get the next. Default: 2. */
  timeoutFactor?: number | null | undefined
  /** Wait as long as `retry-after` says. Default: true. */
  retryAfter?: boolean | null | undefined
  /** Methods that may be repeated although the server may have processed the request. */
  methods?: readonly HttpMethod[] | null | undefined
  /** Codes of errors that are worth another attempt. */
  errorCodes?: readonly string[] | null | undefined
  /** Statuses that are worth another attempt. Default: 500, 502, 503, 504, 429. */
  statusCodes?: readonly number[] | null | undefined
  /** Random part of a wait: up to so much of it is added. Default: 0.25. */
  jitter?: number | null | undefined
  /** Milliseconds for all attempts and waits: a wait that would end later is not begun. Default: no limit. */
  deadline?: number | null | undefined
  /**
   * A `retry-after` of more milliseconds than this gives up at once. Default: the wait is cut to
   * `maxTimeout`.
   */
  maxRetryAfter?: number | null | undefined
  /** Limits the retries for each origin; `true` for the defaults. Default: false. */
  budget?: RetryBudgetOptions | boolean | null | undefined
  /** Gives every POST and PATCH an `idempotency-key`, and repeats them. Default: false. */
  idempotencyKey?: boolean | null | undefined
  /**
   * Which responses that break off are completed with a range request: `any`, those with a `strong` ETag, or
   * none. Default: `any`.
   */
  resume?: 'any' | 'strong' | false | null | undefined
}

/** Where a `RetryHandler` sends the attempts after the first, and the handler of the request. */
export interface RetryHandlers {
  /** Sends an attempt. */
  dispatch: (opts: DispatchOptions, handler: DispatchHandler) => boolean
  /** Gets the response, or the final error. */
  handler: DispatchHandler | LegacyDispatchHandler
}

type Special = 'retry' | 'methods' | 'errorCodes' | 'statusCodes' | 'deadline' | 'maxRetryAfter' | 'budget'

/** All options, checked and filled in. */
export interface RetrySettings extends Filled<Omit<RetryOptions, Special>> {
  readonly retry: RetryCallback | null
  readonly methods: ReadonlySet<string>
  readonly errorCodes: ReadonlySet<string>
  readonly statusCodes: ReadonlySet<number>
  readonly deadline: number | null
  readonly maxRetryAfter: number | null
  readonly budget: RetryBudget | null
  /** Of the dispatcher: its requests go there, and their budget is that of this origin. */
  readonly ownOrigin: OwnOrigin
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'QUERY']

/** As long as a caller names no others, what is known about a request decides before them. */
export const DEFAULT_ERROR_CODES: ReadonlySet<string> = new Set(
  'ECONNRESET ECONNREFUSED ENOTFOUND ENETDOWN ENETUNREACH EHOSTDOWN EHOSTUNREACH EPIPE UND_ERR_SOCKET'.split(
    ' ',
  ),
)

const isShare: Check = (value) => finiteFrom(0)(value) && (value as number) <= 1
// Programs switch retries off with -1.
const isCount: Check = (value) => value === Number.POSITIVE_INFINITY || integerFrom(-1)(value)

const OPTIONS: OptionTable<Omit<RetrySettings, 'budget' | 'ownOrigin'>> = {
  throwOnError: option(true, isBoolean),
  retry: option<RetryCallback | null>(null, isFunction),
  maxRetries: option(5, isCount, undefined, (count: number) => Math.max(0, count)),
  maxTimeout: option(30e3, finiteFrom(0)),
  minTimeout: option(500, finiteFrom(0)),
  timeoutFactor: option(2, finiteFrom(0)),
  retryAfter: option(true, isBoolean),
  methods: setOption(METHODS, isString),
  errorCodes: { ...setOption([], isString), fallback: DEFAULT_ERROR_CODES },
  statusCodes: setOption([500, 502, 503, 504, 429], Number.isInteger),
  jitter: option(0.25, isShare),
  deadline: option<number | null>(null, finiteAbove(0)),
  maxRetryAfter: option<number | null>(null, finiteFrom(0)),
  idempotencyKey: option(false, isBoolean),
  resume: option<RetrySettings['resume']>('any', oneOf('any', 'strong', false)),
}

const DEFAULTS: RetrySettings = { ...readOptions(OPTIONS, null), budget: null, ownOrigin: undefined }

/** Options that are not given are those of `base`. */
export function readRetryOptions(
  options: RetryOptions | null | undefined,
  base: RetrySettings = DEFAULTS,
): RetrySettings {
  if (options === null || options === undefined) return base
  const own = ownOptions(options, 'retryOptions must be an object')
  return {
    ...readLoosely(OPTIONS, own, base),
    budget: own.budget === undefined ? base.budget : readBudget(own.budget),
    ownOrigin: base.ownOrigin,
  }
}

/** The options in the form that callers give them in, for a policy of theirs: the function `retry`. */
export function shownRetryOptions(settings: RetrySettings): FilledRetryOptions {
  const { retry, methods, errorCodes, statusCodes, budget, ownOrigin: _, ...same } = settings
  return {
    ...same,
    retry: retry!,
    methods: [...methods],
    errorCodes: [...errorCodes],
    statusCodes: [...statusCodes],
    budget: budget !== null,
  }
}
