/**
 * What an interceptor replies: a fixed response, a function that makes one for each request, an error, or the
 * script of a connection.
 */

import type { Duplex } from 'node:stream'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { isThenable, whenReady } from '../../base/loop/thenable.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { HeaderBlock } from '../../protocol/header-block.ts'
import type { BodyInput, HeadersInput } from '../../request/dispatch-options.ts'
import type { WireProtocol, WireScript } from '../wire/wire-step.ts'
import { type ReplyContent, toContent } from './reply-content.ts'
import { readReplyFields, toBlock, withDefaults } from './reply-fields.ts'

/** An informational response before the reply. */
export interface InformationalReply {
  /** From 102 to 199. */
  statusCode: number
  /** Default: none. */
  headers?: HeadersInput | undefined
}

/** Options of a reply beside its status and data. */
export interface MockResponseOptions {
  /** Checked when the reply is defined. */
  headers?: HeadersInput | undefined
  /** Fields after the body. */
  trailers?: HeadersInput | undefined
  /** Informational responses before it. */
  informational?: readonly InformationalReply[] | undefined
}

/** What a reply function gets: the options of the request, with `headers` as an object. */
export interface MockResponseCallbackOptions {
  /** As the caller gave it. */
  path: string
  /** As the caller gave it. */
  method: string
  /** An object, in whatever form the caller gave them. */
  headers?: Record<string, string>
  /** Absent if the request was made on the mock pool itself. */
  origin?: string | URL
  /** Text, or bytes that are not UTF-8, where it had to be collected; otherwise as the caller gave it. */
  body?: BodyInput | null
  /** The parts of the path that a pattern names: `agent.intercept('GET https://a.test/users/:id')`. */
  params: Readonly<Record<string, string>>
}

/** Makes the data of a reply. */
export type MockResponseDataHandler<TData = unknown> = (
  opts: MockResponseCallbackOptions,
) => TData | string | Uint8Array | Promise<TData | string | Uint8Array>

/** A whole reply, as a function returns it. */
export interface MockReplyOptions<TData = unknown> {
  /** From 200 to 999. */
  statusCode: number
  /** As for `reply()`. */
  data?: TData | string | Uint8Array
  /** As for `reply()`. */
  responseOptions?: MockResponseOptions
}

/** Makes a whole reply. */
export type MockReplyOptionsCallback<TData = unknown> = (
  opts: MockResponseCallbackOptions,
) => MockReplyOptions<TData> | Promise<MockReplyOptions<TData>>

/** A response, ready to be delivered. */
export interface MockedResponse {
  readonly statusCode: number
  readonly fields: HeaderBlock
  readonly trailers: HeaderBlock
  readonly informational: readonly Pick<MockedResponse, 'statusCode' | 'fields'>[]
  readonly content: ReplyContent
}

/** What `defaultReplyHeaders` and its siblings have set. */
export interface ReplyDefaults {
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  readonly trailers: readonly string[]
  readonly contentLength: boolean
}

export const NO_DEFAULTS: ReplyDefaults = { headers: [], trailers: [], contentLength: false }

/** What `pendingInterceptors()` shows of a reply. */
export interface PendingReply {
  /** Null unless the reply is an error. */
  error: unknown
  /** Undefined for an error, or if a function decides. */
  statusCode?: number | undefined
  /** As given; `''` for none. */
  data?: unknown
  /** With the defaults. */
  headers?: Record<string, string | string[] | undefined>
  /** With the defaults. */
  trailers?: Record<string, string | string[] | undefined>
  /** A function that makes the whole reply. */
  callback?: MockReplyOptionsCallback
}

/** What an interceptor does: it responds, fails, or acts on a connection in memory. */
export type Reply = { readonly data: PendingReply } & (
  | {
      /** Known beforehand, or made for each request. */
      readonly kind: 'response' | 'function'
      readonly ask: (call: {
        callbackOptions(): MockResponseCallbackOptions
      }) => MockedResponse | Promise<MockedResponse>
      /** A function without parameters does not look at the body. */
      readonly readsBody: boolean
      /** The function returns status, headers and data. */
      readonly isWhole: boolean
    }
  | { readonly kind: 'error'; readonly error: unknown }
  | {
      readonly kind: 'raw'
      readonly script: (opts: MockResponseCallbackOptions, protocol: WireProtocol) => WireScript
    }
  | { readonly kind: 'unreachable'; readonly fault: 'connect-refused' | 'connect-timeout' }
  | { readonly kind: 'upgrade'; readonly accept: UpgradeAcceptor }
)

/** Gets the server's end of an upgraded connection. */
export type UpgradeAcceptor = (socket: Duplex, opts: MockResponseCallbackOptions) => unknown

export function fixedReply(
  statusCode: unknown,
  data: unknown,
  responseOptions: unknown,
  defaults: ReplyDefaults,
): Reply {
  const head = readHead(statusCode, responseOptions, defaults)
  // A promise may have rejected before the first request, and its failure is that of the request.
  ignoreRejection(data)
  if (typeof data !== 'function' && !isThenable(data)) {
    const response = head.with(data)
    const pending = head.pending(data, response)
    return { kind: 'response', ask: () => response, readsBody: false, isWhole: false, data: pending }
  }
  const make = typeof data === 'function' ? (data as MockResponseDataHandler) : () => data
  return {
    kind: 'function',
    ask: (call) => whenReady(make(call.callbackOptions()), (made) => head.with(made)),
    readsBody: make.length > 0,
    isWhole: false,
    data: head.pending(data),
  }
}

/** A reply function returned something invalid: a mistake in the test, not a failure of the peer. */
export class BadReplyError extends InvalidArgumentError {
  // What consoles show.
  static override readonly name = 'InvalidArgumentError'
}

export function computedReply(callback: MockReplyOptionsCallback, defaults: ReplyDefaults): Reply {
  const make = (opts: MockResponseCallbackOptions): unknown =>
    whenReady(callback(opts), (made) => withData(made, opts))
  const read = (made: unknown): MockedResponse => {
    try {
      if (typeof made !== 'object' || made === null) {
        throw new InvalidArgumentError('reply options callback must return an object')
      }
      const { statusCode, data = '', responseOptions = {} } = made as Partial<MockReplyOptions>
      return readHead(statusCode, responseOptions, defaults).with(data)
    } catch (error) {
      throw error instanceof InvalidArgumentError ? new BadReplyError(error.message) : error
    }
  }
  return {
    kind: 'function',
    ask: (call) => whenReady(make(call.callbackOptions()), read),
    readsBody: callback.length > 0,
    isWhole: true,
    data: { error: null, callback },
  }
}

/** The data of a reply may be a function or a promise in turn. */
function withData(made: unknown, opts: MockResponseCallbackOptions): unknown {
  const given = (made as Partial<MockReplyOptions> | null | undefined)?.data
  const data: unknown = typeof given === 'function' ? (given as MockResponseDataHandler)(opts) : given
  return whenReady(data, (value) => (value === given ? made : { ...(made as object), data: value }))
}

/** Of a reply whose status is not known beforehand. */
export const NO_DATA: PendingReply = { error: null, statusCode: undefined }

/** A response without its content. */
function readHead(given: unknown, responseOptions: unknown, defaults: ReplyDefaults) {
  if (given === undefined) throw new InvalidArgumentError('statusCode must be defined')
  if (typeof responseOptions !== 'object' || responseOptions === null) {
    throw new InvalidArgumentError('responseOptions must be an object')
  }
  const statusCode = given as number
  if (!Number.isInteger(statusCode) || statusCode < 100 || statusCode > 999) {
    throw new InvalidArgumentError('statusCode must be an integer from 200 to 999')
  }
  if (statusCode < 200) throw new InvalidArgumentError('statusCode must not be informational')
  const options: MockResponseOptions = ownMembers(responseOptions)
  const fields = readReplyFields(options.headers)
  const block = (length: readonly string[]): HeaderBlock => {
    const made = toBlock(withDefaults(fields, withDefaults(length, defaults.headers)))
    made.prepareForReuse()
    return made
  }
  const plain = block([])
  const trailers = toBlock(withDefaults(readReplyFields(options.trailers), defaults.trailers))
  const informational = (options.informational ?? []).map(readInformational)
  return {
    with: (data: unknown): MockedResponse => {
      const content = toContent(data)
      const isCounted = defaults.contentLength && Buffer.isBuffer(content)
      const all = isCounted ? block(['content-length', `${content.length}`]) : plain
      return { statusCode, fields: all, trailers, informational, content }
    },
    /** A fixed response is given, because its fields may include a length. */
    pending: (data: unknown, { fields: all } = { fields: plain }): PendingReply => ({
      error: null,
      statusCode,
      data,
      headers: { ...all.toObject() },
      trailers: { ...trailers.toObject() },
    }),
  }
}

function readInformational({ statusCode, headers }: InformationalReply) {
  if (!Number.isInteger(statusCode) || statusCode < 102 || statusCode > 199) {
    throw new InvalidArgumentError('statusCode of an informational reply must be an integer from 102 to 199')
  }
  return { statusCode, fields: toBlock(readReplyFields(headers)) }
}

/** RFC 9110 §6.4.1: responses that never have content, whatever their fields announce. */
export function isBodiless(method: string, statusCode: number): boolean {
  return method === 'HEAD' || statusCode === 204 || statusCode === 304
}
