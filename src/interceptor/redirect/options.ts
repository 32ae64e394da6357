/** The options of a redirect interceptor: their defaults and checks. */
import { InvalidArgumentError } from '../../errors.ts'
import { OF_REDIRECT } from '../../option-advice.ts'
import { OptionNames } from '../../option-names.ts'
import {
  type Check,
  integerFrom,
  isBoolean,
  isFunction,
  isString,
  type Option,
  type OptionTable,
  option,
  readOption,
  readOptions,
} from '../../options.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/** What `allow` is given besides the target. */
export interface RedirectSource {
  /** The request that was redirected. */
  readonly from: URL
  /** Of the response that redirects. */
  readonly statusCode: number
}

/** `false` hands the response that redirects to the caller. */
export type AllowRedirect = (url: URL, source: RedirectSource) => boolean

/** Options of `interceptors.redirect`. */
export interface RedirectOptions {
  /** The most redirects that are followed; without it none is. */
  maxRedirections?: number | null | undefined
  /** Whether one redirect more is an error. Default: false, its response is delivered. */
  throwOnMaxRedirect?: boolean | null | undefined
  /** Headers that are left out after a redirect. */
  stripHeadersOnRedirect?: readonly string[] | null | undefined
  /** Headers that are left out after a redirect to another origin; `'*'` for all that may be secrets. */
  stripHeadersOnCrossOriginRedirect?: readonly string[] | '*' | null | undefined
  /** Decides about each redirect. Default: all are followed. */
  allow?: AllowRedirect | null | undefined
}

export interface RedirectSettings {
  readonly maxRedirections: number
  readonly throwOnMaxRedirect: boolean
  /** In lower case. */
  readonly stripHeadersOnRedirect: ReadonlySet<string> | null
  readonly stripHeadersOnCrossOriginRedirect: ReadonlySet<string> | '*' | null
  readonly allow: AllowRedirect | null
}

/** The options that a request may have as well. */
const OF_REQUEST = {
  maxRedirections: option(0, integerFrom(0), 'maxRedirections must be a positive number'),
  throwOnMaxRedirect: option(false, isBoolean, 'throwOnMaxRedirect must be a boolean'),
  stripHeadersOnRedirect: names('stripHeadersOnRedirect', Array.isArray),
  stripHeadersOnCrossOriginRedirect: names(
    'stripHeadersOnCrossOriginRedirect',
    (value) => value === '*' || Array.isArray(value),
  ),
}

const NAMES = Object.keys(OF_REQUEST) as (keyof typeof OF_REQUEST)[]

const OPTIONS: OptionTable<RedirectSettings> = {
  allow: option<AllowRedirect | null>(null, isFunction, 'allow must be a function'),
  ...(OF_REQUEST as OptionTable<Omit<RedirectSettings, 'allow'>>),
}

function names(name: string, check: Check): Option<ReadonlySet<string> | '*' | null> {
  return option<ReadonlySet<string> | '*' | null>(
    null,
    check,
    `${name} must be an array`,
    (given: unknown) => {
      if (!Array.isArray(given)) return '*'
      if (given.every(isString)) return new Set(given.map(lowerCaseName))
      throw new InvalidArgumentError(`${name} must contain header names`)
    },
  )
}

const KNOWN = new OptionNames('interceptors.redirect()', OPTIONS, OF_REDIRECT)

export function readRedirectOptions(options: RedirectOptions | null | undefined): RedirectSettings {
  return readOptions(OPTIONS, options, KNOWN)
}

/** The settings of one request: the same object where the request has no options for this interceptor. */
export function settingsOf(settings: RedirectSettings, opts: DispatchOptions): RedirectSettings {
  // Each by its name: this is asked of every request.
  if (
    opts.maxRedirections === undefined &&
    opts.throwOnMaxRedirect === undefined &&
    opts.stripHeadersOnRedirect === undefined &&
    opts.stripHeadersOnCrossOriginRedirect === undefined
  ) {
    return settings
  }
  const own = NAMES.filter((name) => opts[name] !== undefined)
  const read = own.map((name) => [name, readOption(name, opts[name], OF_REQUEST[name] as Option<unknown>)])
  return { ...settings, ...Object.fromEntries(read) }
}
