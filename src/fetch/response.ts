// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/** The class `Response`. */

import { withoutPollution } from '../base/object/own-options.ts'
import { isFieldValue } from '../protocol/ascii.ts'
import {
  illegalInvocation,
  requireArguments,
  toByteString,
  toDictionary,
  toText,
  toUnsigned,
} from '../web/idl.ts'
import { defineAttributes, defineInterface, showInspected } from '../web/interface.ts'
import { markUncloneable } from '../web/uncloneable.ts'
import type { Body } from './body/body.ts'
import { extractBody } from './body/extract.ts'
import { defineBodyMembers } from './body/mixin.ts'
import type * as declared from './declared-classes.ts'
import { HeaderList } from './headers/header-list.ts'
import { fillHeaders, type Headers, type HeadersGuard, makeHeaders } from './headers/headers.ts'
import { REDIRECT_STATUSES } from './run/redirect.ts'
import { partsOf } from './url/url-parts.ts'

/** A response, as the fetch algorithm creates it. */
export type ResponseRecord = Readonly<typeof DEFAULT>

/** Statuses of responses without a body. */
export const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

const DEFAULT = {
  type: 'default' as declared.ResponseType,
  status: 200,
  statusText: '',
  headers: new HeaderList() as HeaderList,
  body: null as Body | null,
  guard: 'none' as HeadersGuard,
  /** The last URL, without its fragment. */
  url: '',
  redirected: false,
}

/** The record of a response that was created, not received. */
function madeHere(changes: Partial<ResponseRecord>): ResponseRecord {
  return { ...DEFAULT, headers: new HeaderList(), ...changes }
}

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

export let makeResponse: (record: ResponseRecord) => Response

/** Throws for an object of another class. */
let ownRecord: (receiver: object) => ResponseRecord

export type Response = declared.Response

/** The attributes that are read from the record as they are. */
const OF_RECORD = ['type', 'url', 'redirected', 'status', 'statusText'] as const

type Defined = keyof declared.BodyMembers | (typeof OF_RECORD)[number]

// biome-ignore lint/correctness/noUnusedVariables: merged with the class, whose static block defines these
interface FetchResponse extends Pick<declared.Response, Defined> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: see above
class FetchResponse {
  #record: ResponseRecord = DEFAULT
  #headers: Headers | null = null

  static {
    makeResponse = (record) => {
      const response = new FetchResponse(INTERNAL as never)
      response.#record = record
      return response
    }
    ownRecord = (receiver) => {
      if (#record in Object(receiver)) return (receiver as FetchResponse).#record
      throw illegalInvocation()
    }
    defineAttributes(FetchResponse.prototype, OF_RECORD, ownRecord)
    defineBodyMembers(FetchResponse.prototype, ownRecord)
  }

  static error(): declared.Response {
    return makeResponse(madeHere({ type: 'error', status: 0, guard: 'immutable' }))
  }

  static json(data: unknown, init: declared.ResponseSettings = {}): declared.Response {
    requireArguments(arguments.length, 1, 'Response.json')
    const text = JSON.stringify(data)
    if (text === undefined) throw new TypeError('Value is not JSON serializable')
    const given = toDictionary(init, 'Response.json')
    const record = readInit(given)
    if (NULL_BODY_STATUSES.has(record.status)) throw invalidStatus(record.status)
    record.headers.fill('content-type', 'application/json')
    return makeResponse({ ...record, body: extractBody(text, 'Response').body })
  }

  static redirect(url: string | URL, status = 302): declared.Response {
    requireArguments(arguments.length, 1, 'Response.redirect')
    const text = toText(url, 'Response.redirect', 'url')
    const code = toUnsigned(Number(status), 16)
    const { href: location } = partsOf(text)
    if (!REDIRECT_STATUSES.has(code)) throw new RangeError(`Invalid status code ${code}`)
    const headers = new HeaderList({ location })
    return makeResponse(madeHere({ status: code, headers, guard: 'immutable' }))
  }

  constructor(body: declared.BodySource | null = null, init: declared.ResponseSettings = {}) {
    markUncloneable(this)
    if ((body as unknown) === INTERNAL) return
    const extracted = body === null || body === undefined ? null : extractBody(body, 'Response')
    const record = readInit(toDictionary(init, 'Response constructor'))
    if (extracted !== null && NULL_BODY_STATUSES.has(record.status)) throw invalidStatus(record.status)
    if (extracted?.type) record.headers.fill('content-type', extracted.type)
    this.#record = { ...record, body: extracted?.body ?? null }
  }

  get ok(): boolean {
    const { status } = ownRecord(this)
    return status >= 200 && status <= 299
  }

  get headers(): Headers {
    const { headers, guard } = ownRecord(this)
    this.#headers ??= makeHeaders(headers, guard)
    return this.#headers
  }

  clone(): declared.Response {
    const record = ownRecord(this)
    const { body, headers } = record
    if (body?.usable === false) throw new TypeError('Response.clone: Body has already been consumed.')
    return makeResponse({ ...record, headers: headers.copy(), body: body?.clone() ?? null })
  }
}

/** A response. */
export const Response: typeof declared.Response = FetchResponse

defineInterface(Response, 'Response')
showInspected(Response.prototype, 'Response', (response) => {
  const { status, statusText, headers, body, bodyUsed, ok, redirected, type, url } = response as Response
  return { status, statusText, headers, body, bodyUsed, ok, redirected, type, url }
})

/** A response that reveals nothing to the caller: status 0, no fields, no body. */
export function opaqueResponse(): Response {
  return makeResponse(madeHere({ type: 'opaque', status: 0, guard: 'immutable' }))
}

function readInit(init: declared.ResponseSettings | null): ResponseRecord {
  const { headers, status, statusText } = withoutPollution(init ?? ({} as declared.ResponseSettings))
  const list = new HeaderList()
  const code = status === undefined ? 200 : toUnsigned(Number(status), 16)
  const text = statusText === undefined ? '' : toByteString(statusText, 'ResponseInit', 'statusText')
  if (code < 200 || code > 599) {
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
  }
  if (!isFieldValue(text)) throw new TypeError('Invalid statusText')
  if (headers !== undefined) fillHeaders(list, headers)
  return madeHere({ status: code, statusText: text, headers: list })
}

function invalidStatus(status: number): TypeError {
  return new TypeError(`Response constructor: Invalid response status code ${status}`)
}
