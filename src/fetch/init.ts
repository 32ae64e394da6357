/**
 * Converts the arguments of `fetch` and `Request` to the one record that both work with. Each member is read
 * once, in the order that Web IDL prescribes, and all validation happens here.
 */

import type { AbortSource } from '../base/abort/signal.ts'
import { getGlobalOrigin } from '../base/address/global-origin.ts'
import { parseUrl, shownUrl } from '../base/address/parse-url.ts'
import { OF_FETCH } from '../option-advice.ts'
import { OptionNames } from '../option-names.ts'
import { isToken } from '../protocol/ascii.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { toByteString, toEnum, toSignal, toText, wellFormed } from '../web/idl.ts'
import type { Body } from './body/body.ts'
import { extractBody } from './body/extract.ts'
import type {
  RequestCache,
  RequestCredentials,
  RequestMode,
  RequestRedirect,
  RequestSettings,
} from './declared-classes.ts'
import { HeaderList } from './headers/header-list.ts'
import { fillHeaders } from './headers/headers.ts'
import { REFERRER_POLICIES, type Referrer, type ReferrerPolicy } from './headers/referrer.ts'
import type { UrlParts } from './url/url-parts.ts'

const MODES = ['navigate', 'same-origin', 'no-cors', 'cors'] as const
const CREDENTIALS = ['omit', 'same-origin', 'include'] as const
const CACHES = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'] as const
const REDIRECTS = ['follow', 'manual', 'error'] as const
const DUPLEXES = ['half'] as const
const PRIORITIES = ['high', 'low', 'auto'] as const
const POLICIES = ['', ...REFERRER_POLICIES] as const

const NAMES = new OptionNames(
  'fetch()',
  {
    ...{ body: 1, bodyTimeout: 1, cache: 1, credentials: 1, dispatcher: 1, duplex: 1, headers: 1 },
    ...{ headersTimeout: 1, integrity: 1, keepalive: 1, method: 1, mode: 1, priority: 1, redirect: 1 },
    ...{ referrer: 1, referrerPolicy: 1, requestBodyTimeout: 1, signal: 1, window: 1 },
  } satisfies Record<keyof RequestSettings, 1>,
  OF_FETCH,
)

/** A request, as the fetch algorithm sees it. */
export type RequestRecord = ReturnType<typeof newRecord>

export function newRecord(url: UrlParts) {
  return {
    method: 'GET',
    url: url as UrlParts,
    headers: new HeaderList() as HeaderList,
    body: null as Body | null,
    mode: 'cors' as RequestMode,
    credentials: 'same-origin' as RequestCredentials,
    cache: 'default' as RequestCache,
    redirect: 'follow' as RequestRedirect,
    referrer: 'client' as Referrer,
    referrerPolicy: '' as ReferrerPolicy,
    integrity: '',
    keepalive: false,
    signal: null as AbortSource | null,
    dispatcher: null as Dispatching | null,
    headersTimeout: null as number | null,
    bodyTimeout: null as number | null,
    requestBodyTimeout: null as number | null,
  }
}

/**
 * Applies `init` to a record, which may come from another request. Members that `init` does not set keep
 * their value. As the standard says, any change resets the referrer and its policy. No request has the mode
 * `navigate`, which it would reset, too.
 */
export function applyInit(record: RequestRecord, init: RequestSettings | null): RequestRecord {
  if (init === null) return record
  NAMES.check(init)
  const {
    body,
    bodyTimeout,
    cache,
    credentials,
    dispatcher,
    duplex,
    headers,
    headersTimeout,
    integrity,
    keepalive,
    method,
    mode,
    priority,
    redirect,
    referrer,
    referrerPolicy,
    requestBodyTimeout,
    signal,
    window,
  } = init
  if (window !== undefined && window !== null) {
    throw new TypeError(`'window' option '${String(window)}' must be null`)
  }
  const changes =
    body !== undefined ||
    cache !== undefined ||
    credentials !== undefined ||
    duplex !== undefined ||
    headers !== undefined ||
    integrity !== undefined ||
    keepalive !== undefined ||
    method !== undefined ||
    mode !== undefined ||
    priority !== undefined ||
    redirect !== undefined ||
    referrer !== undefined ||
    referrerPolicy !== undefined ||
    signal !== undefined ||
    window !== undefined
  if (changes) {
    record.referrer = 'client'
    record.referrerPolicy = ''
  }
  if (cache !== undefined) record.cache = toEnum(cache, CACHES, 'RequestInit')
  if (credentials !== undefined) record.credentials = toEnum(credentials, CREDENTIALS, 'RequestInit')
  if (duplex !== undefined) toEnum(duplex, DUPLEXES, 'RequestInit')
  if (integrity !== undefined) record.integrity = toText(integrity, 'RequestInit', 'integrity')
  if (keepalive !== undefined) record.keepalive = Boolean(keepalive)
  if (method !== undefined) record.method = toMethod(method)
  if (mode !== undefined) {
    record.mode = toEnum(mode, MODES, 'RequestInit')
    if (record.mode === 'navigate') {
      throw new TypeError('Request constructor: invalid request mode navigate.')
    }
  }
  if (priority !== undefined) toEnum(priority, PRIORITIES, 'RequestInit')
  if (redirect !== undefined) record.redirect = toEnum(redirect, REDIRECTS, 'RequestInit')
  if (referrer !== undefined) record.referrer = toReferrer(toText(referrer, 'RequestInit', 'referrer'))
  if (referrerPolicy !== undefined) {
    record.referrerPolicy = toEnum(referrerPolicy, POLICIES, 'RequestInit')
  }
  if (signal !== undefined) record.signal = toSignal(signal, 'RequestInit')
  if (dispatcher !== undefined && dispatcher !== null) record.dispatcher = dispatcher
  if (headersTimeout !== undefined) record.headersTimeout = headersTimeout
  if (bodyTimeout !== undefined) record.bodyTimeout = bodyTimeout
  if (requestBodyTimeout !== undefined) record.requestBodyTimeout = requestBodyTimeout
  if (record.cache === 'only-if-cached' && record.mode !== 'same-origin') {
    throw new TypeError("'only-if-cached' can be set only with 'same-origin' mode")
  }
  if (record.mode === 'no-cors' && !SAFE_METHODS.has(record.method)) {
    throw new TypeError(`'${record.method} is unsupported in no-cors mode.`)
  }
  if (headers !== undefined) {
    record.headers = new HeaderList()
    fillHeaders(record.headers, headers)
  }
  const hasBody = body !== undefined && body !== null
  if ((hasBody || record.body !== null) && (record.method === 'GET' || record.method === 'HEAD')) {
    throw new TypeError('Request with GET/HEAD method cannot have body.')
  }
  if (hasBody) setBody(record, body, duplex !== undefined)
  return record
}

function setBody(record: RequestRecord, value: unknown, isHalfDuplex: boolean): void {
  if (record.keepalive && isOnce(value)) throw new TypeError('keepalive')
  const { body, type } = extractBody(value, 'Request')
  if (type !== null) record.headers.fill('content-type', type)
  // A body without an origin can be read only once.
  if (body.origin === null) {
    if (!isHalfDuplex) {
      throw new TypeError('RequestInit: duplex option is required when sending a body.')
    }
    if (record.mode !== 'same-origin' && record.mode !== 'cors') {
      throw new TypeError('If request is made from ReadableStream, mode should be "same-origin" or "cors"')
    }
  }
  record.body = body
}

/**
 * Whether a body can be read only once. Known before the value is read: a rejected body must be left
 * untouched.
 */
export function isOnce(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = value as Record<PropertyKey, unknown>
  const tag = members[Symbol.toStringTag]
  if (tag === 'Blob' || tag === 'File' || tag === 'FormData') return false
  return typeof members[Symbol.asyncIterator] === 'function' || typeof members['getReader'] === 'function'
}

const USUAL_METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])
/** CORS-safelisted. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'POST'])
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK'])
let warnedOfPatch = false

function toMethod(given: string): string {
  if (USUAL_METHODS.has(given)) return given
  const method = toByteString(given, 'RequestInit', 'method')
  if (!isToken(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`)
  const upper = method.toUpperCase()
  if (REFUSED_METHODS.has(upper)) throw new TypeError(`'${method}' HTTP method is unsupported.`)
  if (USUAL_METHODS.has(upper)) return upper
  if (method === 'patch' && !warnedOfPatch) {
    warnedOfPatch = true
    process.emitWarning(
      'Using `patch` is highly likely to result in a `405 Method Not Allowed`. `PATCH` is much more likely to succeed.',
      { code: 'UNDICI-FETCH-patch' },
    )
  }
  return method
}

function toReferrer(text: string): Referrer {
  if (text === '') return 'no-referrer'
  const base = getGlobalOrigin()
  let url: URL
  try {
    url = parseUrl(wellFormed(text), base)
  } catch (error) {
    throw new TypeError(`Referrer "${shownUrl(text)}" is not a valid URL.`, { cause: error })
  }
  if (url.protocol === 'about:' && (url.pathname === 'client' || url.hostname === 'client')) return 'client'
  return base !== undefined && url.origin !== base.origin ? 'client' : url
}
