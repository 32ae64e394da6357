// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/** The class `Request`, and the function that reads the arguments of `fetch` and `Request`. */

import type { AbortSource } from '../base/abort/signal.ts'
import { shownUrl } from '../base/address/parse-url.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { shared } from '../base/object/shared.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { illegalInvocation, requireArguments, toDictionary, toText } from '../web/idl.ts'
import { defineAttributes, defineInterface, showInspected } from '../web/interface.ts'
import { markUncloneable } from '../web/uncloneable.ts'
import { extractBody } from './body/extract.ts'
import { defineBodyMembers } from './body/mixin.ts'
import type * as declared from './declared-classes.ts'
import type { RequestInput, RequestLike, RequestSettings } from './declared-classes.ts'
import { HeaderList } from './headers/header-list.ts'
import { fillHeaders, type Headers, makeHeaders } from './headers/headers.ts'
import { applyInit, newRecord, type RequestRecord } from './init.ts'
import { partsOf, type UrlParts } from './url/url-parts.ts'

/** The record of a `Request` object; null for any other object. */
let recordIn: (value: object) => RequestRecord | null

/** The dispatchers of those requests that have one. */
const dispatchers = shared('requestDispatchers', () => new WeakMap<object, Dispatching>())

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

/** The attributes that are read from the record as they are. */
const OF_RECORD = [
  'method',
  'referrerPolicy',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'integrity',
  'keepalive',
] as const

/** The attributes that are the same for all requests. */
const CONSTANT = {
  destination: '',
  isReloadNavigation: false,
  isHistoryNavigation: false,
  duplex: 'half',
} as const

let makeRequest: (record: RequestRecord) => Request

export type Request = declared.Request

type Defined = keyof declared.BodyMembers | (typeof OF_RECORD)[number] | keyof typeof CONSTANT

// biome-ignore lint/correctness/noUnusedVariables: merged with the class, whose static block defines these
interface FetchRequest extends Pick<declared.Request, Defined> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: see above
class FetchRequest {
  #record: RequestRecord
  #headers: Headers | null = null
  #signal: AbortSignal | null = null

  static {
    recordIn = (value) => (#record in value ? value.#record : null)
    makeRequest = (record) => {
      const request = new FetchRequest(INTERNAL as never)
      request.#record = record
      request.#tellDispatcher()
      return request
    }
    defineAttributes(FetchRequest.prototype, OF_RECORD, ownRecord)
    const names = Object.keys(CONSTANT) as (keyof typeof CONSTANT)[]
    defineAttributes(FetchRequest.prototype, names, (request) => ownRecord(request) && CONSTANT)
    defineBodyMembers(FetchRequest.prototype, ownRecord)
  }

  constructor(input: RequestInput, init: RequestSettings = {}) {
    markUncloneable(this)
    requireArguments(arguments.length, 1, 'Request constructor')
    this.#record = (input as unknown) === INTERNAL ? (null as never) : readRequest(input, init)
    this.#tellDispatcher()
  }

  get url(): string {
    return ownRecord(this).url.href
  }

  get headers(): Headers {
    const { headers } = ownRecord(this)
    this.#headers ??= makeHeaders(headers, 'none')
    return this.#headers
  }

  get referrer(): string {
    const { referrer } = ownRecord(this)
    if (referrer === 'no-referrer') return ''
    return referrer === 'client' ? 'about:client' : referrer.href
  }

  get signal(): AbortSignal {
    const { signal } = ownRecord(this)
    this.#signal ??= following(signal)
    return this.#signal
  }

  clone(): declared.Request {
    const record = ownRecord(this)
    if (record.body !== null && !record.body.usable) throw new TypeError('unusable')
    return makeRequest({
      ...record,
      headers: record.headers.copy(),
      body: record.body === null ? null : record.body.clone(),
      // Follows the signal of the original, which is aborted first.
      signal: record.signal === null ? null : this.signal,
    })
  }

  /** For other copies of the library, which cannot read the private fields of this one. */
  #tellDispatcher(): void {
    const dispatcher = this.#record?.dispatcher ?? null
    if (dispatcher !== null) dispatchers().set(this, dispatcher)
  }
}

/** A request that `fetch` can send. */
export const Request: typeof declared.Request = FetchRequest

defineInterface(Request, 'Request')
showInspected(Request.prototype, 'Request', (object) => {
  const request = object as Request
  const { method, url, headers, destination, referrer, signal } = request
  const { isReloadNavigation, isHistoryNavigation } = CONSTANT
  const others = Object.fromEntries(OF_RECORD.map((name) => [name, request[name]]))
  const first = { method, url, headers, destination, referrer }
  return { ...first, ...others, isReloadNavigation, isHistoryNavigation, signal }
})

/** A copy without the signal and the body, for code that keeps requests after they are over. */
export function withoutSignal(request: Request): Request {
  const record = recordIn(request) ?? readRequest(request, null)
  return makeRequest({ ...record, headers: record.headers.copy(), body: null, signal: null })
}

function ownRecord(receiver: object): RequestRecord {
  const record = recordIn(Object(receiver))
  if (record === null) throw illegalInvocation()
  return record
}

/** Reads the arguments into one record. Takes the body of a given `Request`. */
export function readRequest(input: unknown, init: RequestSettings | null | undefined): RequestRecord {
  const given = withoutPollution(toDictionary(init, 'Request constructor'))
  const own = typeof input === 'object' && input !== null ? recordIn(input) : null
  if (own !== null) return ofOwn(own, given)
  if (isRequestLike(input)) return ofForeign(input, given)
  return applyInit(newRecord(parseUrl(input)), given)
}

function parseUrl(input: unknown): UrlParts {
  const text = toText(input, 'Request constructor', 'input')
  const parts = partsOf(text)
  if (parts.hasCredentials) {
    throw new TypeError(
      `Request cannot be constructed from a URL that includes credentials: ${shownUrl(text)}`,
    )
  }
  return parts
}

function ofOwn(request: RequestRecord, init: RequestSettings | null): RequestRecord {
  const record = applyInit({ ...request, headers: request.headers.copy() }, init)
  const { body } = request
  if (body === null || record.body !== body) return record
  if (!body.usable) throw alreadyUsed()
  // Last: if anything above throws, the request must be unchanged.
  record.body = body.handOver()
  return record
}

function alreadyUsed(): TypeError {
  return new TypeError('Cannot construct a Request with a Request object that has already been used.')
}

function isRequestLike(input: unknown): input is RequestLike & Record<string, unknown> {
  if (typeof input !== 'object' || input === null) return false
  const { url, method, [Symbol.toStringTag]: tag } = input as Record<PropertyKey, unknown>
  return tag === 'Request' && typeof url === 'string' && typeof method === 'string'
}

/** Reads a request of the runtime or of another copy of the library. */
function ofForeign(
  request: RequestLike & Record<string, unknown>,
  init: RequestSettings | null,
): RequestRecord {
  const record = newRecord(parseUrl(request.url))
  const { cache, credentials, integrity, keepalive, method, mode, redirect, referrerPolicy, signal } = request
  const known = { cache, credentials, integrity, keepalive, method, redirect, referrerPolicy, signal }
  applyInit(record, { ...known, ...(mode === 'navigate' ? null : { mode }) } as RequestSettings)
  const { referrer } = request
  if (referrer === '') record.referrer = 'no-referrer'
  else if (typeof referrer === 'string' && referrer !== 'about:client') record.referrer = new URL(referrer)
  record.headers = new HeaderList()
  if (request.headers) fillHeaders(record.headers, request.headers)
  record.dispatcher = foreignDispatcher(request)
  const isUsed = request.bodyUsed === true
  if (!isUsed && request.body !== null && request.body !== undefined) {
    record.body = extractBody(request.body, 'Request').body
  }
  applyInit(record, init ?? {})
  if (isUsed && record.body === null) throw alreadyUsed()
  return record
}

/** Node 20 and 22 store it under a symbol of this name; later versions hide it. */
function foreignDispatcher(request: object): Dispatching | null {
  const told = dispatchers().get(request)
  if (told !== undefined) return told
  const name = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'dispatcher')
  return name === undefined ? null : ((request as Record<symbol, Dispatching | undefined>)[name] ?? null)
}

/** A signal that is aborted together with `source`, for the same reason. */
function following(source: AbortSource | null): AbortSignal {
  if (source instanceof AbortSignal) return AbortSignal.any([source])
  const controller = new AbortController()
  if (source === null) return controller.signal
  const abort = (): void => controller.abort(source.reason)
  if (source.aborted !== true && 'addEventListener' in source) source.addEventListener('abort', abort)
  // It may have fired before it had the listener.
  if (source.aborted === true) abort()
  return controller.signal
}
