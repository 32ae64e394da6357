/** The options of a redirect interceptor: their defaults and checks. */
import { InvalidArgumentError } from '../../errors.ts'
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
  readonly strip: ReadonlySet<string> | null
  readonly stripAcrossOrigins: ReadonlySet<string> | '*' | null
  readonly allow: AllowRedirect | null
}

/** With `maxRedirections: null`, nothing is followed. */
const OFF: RedirectSettings = {
  maxRedirections: 0,
  throwOnMaxRedirect: false,
  strip: null,
  stripAcrossOrigins: null,
  allow: null,
}

export function readRedirectOptions(options: RedirectOptions | null | undefined): RedirectSettings {
  if (options === null || options === undefined) return OFF
  if (typeof options !== 'object') throw new InvalidArgumentError('options must be an object')
  const own = Object.assign(Object.create(null), options) as RedirectOptions
  const { allow } = own
  if (allow !== null && allow !== undefined && typeof allow !== 'function') {
    throw new InvalidArgumentError('allow must be a function')
  }
  return { ...overridden(OFF, own), allow: allow ?? null }
}

/** The settings of one request: the same object where the request has no options for this interceptor. */
export function settingsOf(settings: RedirectSettings, opts: DispatchOptions): RedirectSettings {
  return opts.maxRedirections === undefined &&
    opts.throwOnMaxRedirect === undefined &&
    opts.stripHeadersOnRedirect === undefined &&
    opts.stripHeadersOnCrossOriginRedirect === undefined
    ? settings
    : overridden(settings, opts)
}

type Overrides = Omit<RedirectOptions, 'allow'>

function overridden(settings: RedirectSettings, options: Overrides): RedirectSettings {
  const {
    maxRedirections: most = settings.maxRedirections,
    throwOnMaxRedirect: throws = settings.throwOnMaxRedirect,
    stripHeadersOnRedirect: strip,
    stripHeadersOnCrossOriginRedirect: across,
  } = options
  if (most !== null && !(Number.isInteger(most) && most >= 0)) {
    throw new InvalidArgumentError('maxRedirections must be a positive number')
  }
  if (throws !== null && typeof throws !== 'boolean') {
    throw new InvalidArgumentError('throwOnMaxRedirect must be a boolean')
  }
  return {
    maxRedirections: most ?? 0,
    throwOnMaxRedirect: throws ?? false,
    strip: strip === undefined ? settings.strip : readNames(strip, 'stripHeadersOnRedirect'),
    stripAcrossOrigins:
      across === undefined
        ? settings.stripAcrossOrigins
        : across === '*'
          ? across
          : readNames(across, 'stripHeadersOnCrossOriginRedirect'),
    allow: settings.allow,
  }
}

function readNames(names: unknown, option: string): ReadonlySet<string> | null {
  if (names === null) return null
  if (!Array.isArray(names)) throw new InvalidArgumentError(`${option} must be an array`)
  if (!names.every((name) => typeof name === 'string')) {
    throw new InvalidArgumentError(`${option} must contain header names`)
  }
  return new Set(names.map(lowerCaseName))
}
