/**
 * What `intercept()` returns: the replies of one interceptor are defined on it.
 */
import { InvalidArgumentError } from '../errors.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import { Interception, type MockPattern } from './interception.ts'
import type { OriginMocks } from './origin-mocks.ts'
import {
  computedReply,
  failingReply,
  fixedReply,
  type MockReplyOptionsCallback,
  type MockResponseDataHandler,
  type MockResponseOptions,
  NO_DEFAULTS,
  type Reply,
  type ReplyDefaults,
} from './reply.ts'
import { ReplyFields } from './reply-fields.ts'

/** How often a reply is given, and when. Returned by `reply()` and its siblings. */
export class MockScope {
  readonly #interception: Interception

  constructor(interception: Interception) {
    this.#interception = interception
  }

  /** Replies after so many milliseconds. */
  delay(waitInMs: number): this {
    this.#interception.delay = positive(waitInMs, 'waitInMs')
    return this
  }

  /** Replies any number of times. */
  persist(): this {
    this.#interception.persist = true
    return this
  }

  /** Replies so many times. Default: once. */
  times(repeatTimes: number): this {
    this.#interception.times = positive(repeatTimes, 'repeatTimes')
    return this
  }
}

/**
 * An interceptor, without a reply as yet. Each reply is a separate entry: the first is given until it is used up, then
 * the second.
 *
 * @example
 * agent.get('http://api.test').intercept({ path: '/users/1' }).reply(200, { name: 'Ada' })
 */
export class MockInterceptor {
  readonly #pattern: MockPattern
  readonly #mocks: OriginMocks
  #defaults: ReplyDefaults = NO_DEFAULTS

  /** Made by `intercept()`. */
  constructor(pattern: MockPattern, mocks: OriginMocks) {
    this.#pattern = pattern
    this.#mocks = mocks
  }

  /** Replies with what the function returns for each request. */
  reply(callback: MockReplyOptionsCallback): MockScope
  /** Replies with a status and the data that the function returns for each request. */
  reply(statusCode: number, data: MockResponseDataHandler, responseOptions?: MockResponseOptions): MockScope
  /** Replies with a status and data: text, bytes, an object as JSON, or a stream. */
  reply(statusCode: number, data?: unknown, responseOptions?: MockResponseOptions): MockScope
  reply(
    statusCode?: number | MockReplyOptionsCallback,
    data: unknown = '',
    responseOptions: MockResponseOptions = {},
  ): MockScope {
    return this.#add(
      typeof statusCode === 'function'
        ? computedReply(statusCode, this.#defaults)
        : fixedReply(statusCode, data, responseOptions, this.#defaults),
    )
  }

  /** Fails the request with this value, which reaches the caller unchanged. */
  replyWithError(error: unknown): MockScope {
    return this.#add(failingReply(error))
  }

  /** Header fields of all replies that are defined after this. Those of a reply win. */
  defaultReplyHeaders(headers: HeadersInput): this {
    if (headers === undefined) throw new InvalidArgumentError('headers must be defined')
    this.#defaults = { ...this.#defaults, headers: ReplyFields.read(headers) }
    return this
  }

  /** Trailers of all replies that are defined after this. Those of a reply win. */
  defaultReplyTrailers(trailers: HeadersInput): this {
    if (trailers === undefined) throw new InvalidArgumentError('trailers must be defined')
    this.#defaults = { ...this.#defaults, trailers: ReplyFields.read(trailers) }
    return this
  }

  /** Replies that are defined after this announce their length in bytes. */
  replyContentLength(): this {
    this.#defaults = { ...this.#defaults, contentLength: true }
    return this
  }

  #add(reply: Reply): MockScope {
    const interception = new Interception(this.#pattern, reply)
    this.#mocks.add(interception)
    return new MockScope(interception)
  }
}

function positive(value: unknown, name: string): number {
  if (!Number.isInteger(value) || (value as number) <= 0) {
    throw new InvalidArgumentError(`${name} must be a valid integer > 0`)
  }
  return value as number
}
