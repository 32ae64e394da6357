/**
 * The options of the retry interceptor, as a table: the default of each, its check, and the message if that
 * fails.
 */
import { watched } from '../../base/loop/thenable.ts'
import type { OwnOrigin } from '../../dispatcher/compose.ts'
import type { RetrySafety } from '../../errors.ts'
import { OF_RETRY } from '../../option-advice.ts'
import { OptionNames } from '../../option-names.ts'
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

/** A list, or a function that makes one of the list that would count without it. */
export type RetryList<T> = readonly T[] | ((defaults: T[]) => readonly T[])

/** What `onRetry` is told. */
export interface RetryEvent {
  /** The number of the retry that follows, from 1 on. */
  attempt: number
  /** What the attempt before has failed with; of a bad status, an error with it. */
  error: RetriedError
  /** The bad status, if it was one. */
  statusCode: number | undefined
  /** Milliseconds until the retry; null if a policy of the caller has decided. */
  delay: number | null
  /** Of the request, if it names one. */
  origin: string | URL | undefined
  /** Of the request. */
  method: string
  /** Of the request, with its query. */
  path: string
}

/** Called before each wait. A promise is waited for first; what it throws or rejects with fails the request. */
export type RetryHook = (event: RetryEvent) => unknown

/** Options with their defaults; null for no limit. They are optional as in the types of undici. */
export type FilledRetryOptions = {
  [Name in keyof RetryOptions]?: Name extends 'deadline' | 'maxRetryAfter' | 'attemptTimeout' | 'onRetry'
    ? RetryOptions[Name]
    : Name extends 'methods' | 'errorCodes' | 'statusCodes'
      ? Extract<RetryOptions[Name], readonly unknown[]>
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
  /** Wait as long as the server asks for. Default: true. */
  retryAfter?: boolean | null | undefined
  /** Methods that may be repeated although the server may have processed the request. */
  methods?: RetryList<HttpMethod> | null | undefined
  /** Codes of errors that are worth another attempt. */
  errorCodes?: RetryList<string> | null | undefined
  /** Statuses that are worth another attempt. Default: 500, 502, 503, 504, 429. */
  statusCodes?: RetryList<number> | null | undefined
  /** Exceeded time limits are worth another attempt, too. Default: false. */
  timeouts?: boolean | null | undefined
  /** Milliseconds for each attempt, from its dispatch to its response head. Default: no limit. */
  attemptTimeout?: number | null | undefined
  /** Called before each retry. */
  onRetry?: RetryHook | null | undefined
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

type Special =
  | 'attemptTimeout'
  | 'onRetry'
  | 'retry'
  | 'methods'
  | 'errorCodes'
  | 'statusCodes'
  | 'deadline'
  | 'maxRetryAfter'
  | 'budget'

/** All options, checked and filled in. */
export interface RetrySettings extends Filled<Omit<RetryOptions, Special>> {
  readonly retry: RetryCallback | null
  readonly methods: ReadonlySet<string>
  readonly errorCodes: ReadonlySet<string>
  /** What is known about a lost connection decides before the codes: the caller has not replaced them. */
  readonly judgesLoss: boolean
  readonly statusCodes: ReadonlySet<number>
  readonly deadline: number | null
  readonly maxRetryAfter: number | null
  readonly budget: RetryBudget | null
  readonly attemptTimeout: number | null
  readonly onRetry: RetryHook | null
  /** Of the dispatcher: its requests go there, and their budget is that of this origin. */
  readonly ownOrigin: OwnOrigin
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'QUERY']

const DEFAULT_ERROR_CODES: ReadonlySet<string> = new Set(
  'ECONNRESET ECONNREFUSED ENOTFOUND ENETDOWN ENETUNREACH EHOSTDOWN EHOSTUNREACH EPIPE UND_ERR_SOCKET'.split(
    ' ',
  ),
)

const isShare: Check = (value) => finiteFrom(0)(value) && (value as number) <= 1
// Programs switch retries off with -1.
const isCount: Check = (value) => value === Number.POSITIVE_INFINITY || integerFrom(-1)(value)

/** Not read by the table alone. */
type Derived = 'budget' | 'judgesLoss' | 'ownOrigin'

const OPTIONS: OptionTable<Omit<RetrySettings, Derived>> = {
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
  timeouts: option(false, isBoolean),
  attemptTimeout: option<number | null>(null, finiteAbove(0)),
  onRetry: option<RetryHook | null>(null, isFunction),
  jitter: option(0.25, isShare),
  deadline: option<number | null>(null, finiteAbove(0)),
  maxRetryAfter: option<number | null>(null, finiteFrom(0)),
  idempotencyKey: option(false, isBoolean),
  resume: option<RetrySettings['resume']>('any', oneOf('any', 'strong', false)),
}

const DEFAULTS: RetrySettings = {
  ...readOptions(OPTIONS, null),
  budget: null,
  judgesLoss: true,
  ownOrigin: undefined,
}

const NAMES = new OptionNames('interceptors.retry()', { ...OPTIONS, budget: true }, OF_RETRY)

/** Options that are not given are those of `base`. */
export function readRetryOptions(
  options: RetryOptions | null | undefined,
  base: RetrySettings = DEFAULTS,
): RetrySettings {
  if (options === null || options === undefined) return base
  const own = ownOptions(options, 'retryOptions must be an object')
  const { errorCodes } = own
  for (const name of ['methods', 'errorCodes', 'statusCodes'] as const) {
    const make: unknown = own[name]
    // A promise is refused below: its rejection must not end the process.
    if (typeof make === 'function') own[name] = watched(make([...base[name]]), null)
  }
  return {
    ...readLoosely(OPTIONS, own, NAMES, base),
    budget: own.budget === undefined ? base.budget : readBudget(own.budget),
    // A function adds to the codes: what was repeated without them still is.
    judgesLoss:
      base.judgesLoss && (isFunction(errorCodes) || errorCodes === undefined || errorCodes === null),
    ownOrigin: base.ownOrigin,
  }
}

/** The options in the form that callers give them in, for a policy of theirs: the function `retry`. */
export function shownRetryOptions(settings: RetrySettings): FilledRetryOptions {
  const {
    retry,
    methods,
    errorCodes,
    statusCodes,
    budget,
    ownOrigin: _,
    judgesLoss: _judges,
    ...same
  } = settings
  return {
    ...same,
    retry: retry!,
    methods: [...methods],
    errorCodes: [...errorCodes],
    statusCodes: [...statusCodes],
    budget: budget !== null,
  }
}
