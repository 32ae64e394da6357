// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/** The class `Response`. */

import type { ReadableStream } from 'node:stream/web'
import { defineKind, isInstance } from '../base/kind.ts'
import { withoutPollution } from '../base/own-options.ts'
import { shownUrl } from '../base/parse-url.ts'
import type { Body } from './body.ts'
import { type BodyInit, extractBody } from './body-init.ts'
import { type BodyMembers, type BodyOwner, defineBodyMembers } from './body-mixin.ts'
import {
  illegalInvocation,
  requireArguments,
  setTag,
  showInspected,
  showMembers,
  toByteString,
  toDictionary,
  toText,
} from './convert.ts'
import { HeaderList } from './header-list.ts'
import { fillHeaders, type Headers, type HeadersGuard, type HeadersInit, makeHeaders } from './headers.ts'
import { markUncloneable } from './uncloneable.ts'
import { partsOf } from './url-parts.ts'

/** Options of `Response`. */
export interface ResponseInit {
  /** The header fields. */
  headers?: HeadersInit | undefined
  /** From 200 to 599. Default: 200. */
  status?: number | undefined
  /** Default: empty. */
  statusText?: string | undefined
}

/** The kind of a response. */
export type ResponseType = 'basic' | 'cors' | 'default' | 'error' | 'opaque' | 'opaqueredirect'

/** A response, as the fetch algorithm creates it. */
export interface ResponseRecord {
  readonly type: ResponseType
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderList
  readonly guard: HeadersGuard
  /** The last URL, without its fragment. */
  readonly url: string
  readonly redirected: boolean
}

/** Statuses of responses without a body. */
export const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

const NO_INIT: ResponseInit = {}

const REASON_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The record of a response that was created, not received. */
function madeHere(changes: Partial<ResponseRecord>): ResponseRecord {
  return {
    type: 'default',
    status: 200,
    statusText: '',
    headers: new HeaderList(),
    guard: 'none',
    url: '',
    redirected: false,
    ...changes,
  }
}

const DEFAULT = madeHere({})

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

/** Creates a response from a record and a body. */
export let makeResponse: (record: ResponseRecord, body: Body | null) => Response

/** Throws for an object of another class. */
let ownRecord: (receiver: object) => ResponseRecord

export interface Response extends BodyMembers {}

/** A response. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only types what is defined below
export class Response {
  #record: ResponseRecord = DEFAULT
  #body: Body | null = null
  #headers: Headers | null = null

  static [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this and get the ordinary check
    return isInstance(this, value)
  }

  static {
    makeResponse = (record, body) => {
      const response = new Response(INTERNAL as never)
      response.#record = record
      response.#body = body
      return response
    }
    ownRecord = (receiver) => {
      const object = Object(receiver)
      if (!(#record in object)) throw illegalInvocation()
      return object.#record
    }
    defineBodyMembers(Response.prototype, (object): BodyOwner => {
      const { headers } = ownRecord(object)
      return { body: (object as Response).#body, headers }
    })
  }

  /** A response that represents a network error. */
  static error(): Response {
    return makeResponse(madeHere({ type: 'error', status: 0, guard: 'immutable' }), null)
  }

  /** A response with a value as its JSON body. */
  static json(data: unknown, init: ResponseInit = {}): Response {
    requireArguments(arguments.length, 1, 'Response.json')
    const text = JSON.stringify(data)
    if (text === undefined) throw new TypeError('Value is not JSON serializable')
    const given = toDictionary(init, 'Response.json')
    const record = readInit(given)
    if (NULL_BODY_STATUSES.has(record.status)) throw invalidStatus(record.status)
    if (!record.headers.has('content-type')) {
      record.headers.append('content-type', 'content-type', 'application/json')
    }
    return makeResponse(record, extractBody(text, 'Response').body)
  }

  /** A response that redirects to another URL. */
  static redirect(url: string | URL, status = 302): Response {
    requireArguments(arguments.length, 1, 'Response.redirect')
    const text = toText(url, 'Response.redirect', 'url')
    const code = toUnsignedShort(status)
    let location: string
    try {
      location = partsOf(text).href
    } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${shownUrl(text)}`, { cause })
    }
    if (!REDIRECT_STATUSES.has(code)) throw new RangeError(`Invalid status code ${code}`)
    const headers = new HeaderList()
    headers.append('location', 'location', location)
    return makeResponse(madeHere({ status: code, headers, guard: 'immutable' }), null)
  }

  constructor(body: BodyInit | null = null, init: ResponseInit = {}) {
    markUncloneable(this)
    if ((body as unknown) === INTERNAL) return
    const extracted = body === null || body === undefined ? null : extractBody(body, 'Response')
    const record = readInit(toDictionary(init, 'Response constructor'))
    if (extracted !== null) {
      if (NULL_BODY_STATUSES.has(record.status)) throw invalidStatus(record.status)
      const { type } = extracted
      if (type !== null && !record.headers.has('content-type')) {
        record.headers.append('content-type', 'content-type', type)
      }
      this.#body = extracted.body
    }
    this.#record = record
  }

  /** The kind of the response: `basic`, `cors`, `default`, `error` or `opaque`. */
  get type(): ResponseType {
    return ownRecord(this).type
  }

  /** The URL it came from, after redirects. */
  get url(): string {
    return ownRecord(this).url
  }

  /** Whether it is the result of a redirect. */
  get redirected(): boolean {
    return ownRecord(this).redirected
  }

  /** The status code; 0 if it must not be revealed. */
  get status(): number {
    return ownRecord(this).status
  }

  /** Whether the status is from 200 to 299. */
  get ok(): boolean {
    const { status } = ownRecord(this)
    return status >= 200 && status <= 299
  }

  /** The reason phrase; empty over HTTP/2. */
  get statusText(): string {
    return ownRecord(this).statusText
  }

  /** The header fields. Those of a fetched response cannot be changed. */
  get headers(): Headers {
    const { headers, guard } = ownRecord(this)
    this.#headers ??= makeHeaders(headers, guard)
    return this.#headers
  }

  /** The body as a stream; null if there is none. */
  get body(): ReadableStream<Uint8Array> | null {
    ownRecord(this)
    return this.#body === null ? null : this.#body.stream
  }

  /** Whether the body has been read or is being read. */
  get bodyUsed(): boolean {
    ownRecord(this)
    return this.#body?.used === true
  }

  /** A second response like this one, with a separate body. */
  clone(): Response {
    const record = ownRecord(this)
    const body = this.#body
    if (body !== null && !body.usable) {
      throw new TypeError('Response.clone: Body has already been consumed.')
    }
    return makeResponse({ ...record, headers: record.headers.copy() }, body === null ? null : body.clone())
  }

  declare readonly [Symbol.toStringTag]: string
}

setTag(Response.prototype, 'Response')
defineKind(Response, 'ventuno.Response')
showInspected(Response.prototype, 'Response', (response) => {
  const { status, statusText, headers, body, bodyUsed, ok, redirected, type, url } = response as Response
  return { status, statusText, headers, body, bodyUsed, ok, redirected, type, url }
})
showMembers(Response.prototype, [
  'type',
  'url',
  'redirected',
  'status',
  'ok',
  'statusText',
  'headers',
  'body',
  'bodyUsed',
  'clone',
])
showMembers(Response, ['error', 'json', 'redirect'])

/** A response that the caller may learn nothing about: status 0, no fields, no body. */
export function opaqueResponse(): Response {
  return makeResponse(madeHere({ type: 'opaque', status: 0, guard: 'immutable' }), null)
}

function readInit(init: ResponseInit | null): ResponseRecord {
  const { headers, status, statusText } = withoutPollution(init ?? NO_INIT)
  const list = new HeaderList()
  const code = status === undefined ? 200 : toUnsignedShort(status)
  const text = statusText === undefined ? '' : toByteString(statusText, 'ResponseInit', 'statusText')
  if (code < 200 || code > 599) {
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
  }
  if (!REASON_PHRASE.test(text)) throw new TypeError('Invalid statusText')
  if (headers !== undefined) fillHeaders(list, headers)
  return madeHere({ status: code, statusText: text, headers: list })
}

/** Modulo 2¹⁶, as in Web IDL. */
function toUnsignedShort(value: unknown): number {
  const number = Math.trunc(Number(value))
  return Number.isFinite(number) ? ((number % 65_536) + 65_536) % 65_536 : 0
}

function invalidStatus(status: number): TypeError {
  return new TypeError(`Response constructor: Invalid response status code ${status}`)
}
