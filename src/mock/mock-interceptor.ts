/** What `intercept()` returns: the replies of one interceptor are defined on it. */
import { LONGEST_DELAY } from '../base/loop/deadline.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import { Interception, type MockInterceptorOptions, type MockPattern } from './match/interception.ts'
import type { OriginMocks } from './origin-mocks.ts'
import { eventsText, type MockEvents } from './reply/events-text.ts'
import {
  computedReply,
  fixedReply,
  type MockReplyOptions,
  type MockReplyOptionsCallback,
  type MockResponseCallbackOptions,
  type MockResponseDataHandler,
  type MockResponseOptions,
  NO_DATA,
  NO_DEFAULTS,
  type Reply,
  type ReplyDefaults,
  type UpgradeAcceptor,
} from './reply/reply.ts'
import { readReplyFields } from './reply/reply-fields.ts'
import { count, FAULTS, type WireFault, type WireScript } from './wire/wire-step.ts'

/** How often a reply is given, and when. Returned by `reply()` and its siblings. */
export class MockScope<_TData = unknown> {
  readonly #interception: Interception

  constructor(interception: Interception) {
    this.#interception = interception
  }

  /** Replies after so many milliseconds. */
  delay(waitInMs: number): this {
    this.#interception.delay = Math.min(count(waitInMs, 'waitInMs', '> 0'), LONGEST_DELAY)
    return this
  }

  /** Replies any number of times. */
  persist(): this {
    this.#interception.persist = true
    return this
  }

  /** Replies so many times. Default: once. */
  times(repeatTimes: number): this {
    this.#interception.times = count(repeatTimes, 'repeatTimes', '> 0')
    return this
  }
}

/**
 * An interceptor. Each reply is a separate entry: the first is given until it is used up, then the second.
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
  reply<TData = unknown>(callback: MockReplyOptionsCallback<TData>): MockScope<TData>
  /**
   * Replies with a status and data: text, bytes, an object as JSON, a stream, or a function that returns one
   * of these for each request.
   */
  reply<TData = unknown>(
    statusCode: number,
    data?: TData | string | Uint8Array | MockResponseDataHandler<TData>,
    responseOptions?: MockResponseOptions,
  ): MockScope<TData>
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
  replyWithError<TError = unknown>(error: TError): MockScope {
    if (error === undefined || error === null) throw new InvalidArgumentError('error must be defined')
    return this.#add({ kind: 'error', error, data: { error } })
  }

  /**
   * Replies with bytes, which go through the HTTP engine on a connection in memory. `mockWire` has actions
   * such as waits and resets.
   *
   * @example
   * interceptor.replyRaw(['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', 'half', mockWire.reset()])
   */
  replyRaw(steps: WireScript | ((opts: MockResponseCallbackOptions) => WireScript)): MockScope {
    if (steps === null || !['object', 'function'].includes(typeof steps)) {
      throw new InvalidArgumentError('steps must be iterable')
    }
    const script = typeof steps === 'function' ? steps : () => steps
    return this.#add({ kind: 'raw', script: (opts) => script(opts), data: NO_DATA })
  }

  /** Fails as a server or a network does, with the same errors. */
  fault(kind: WireFault): MockScope {
    if (kind === 'connect-refused' || kind === 'connect-timeout') {
      return this.#add({ kind: 'unreachable', fault: kind, data: NO_DATA })
    }
    if (!Object.hasOwn(FAULTS, kind)) throw new InvalidArgumentError(`unknown fault: ${String(kind)}`)
    return this.#add({ kind: 'raw', script: (_opts, protocol) => FAULTS[kind][protocol], data: NO_DATA })
  }

  /** Accepts an upgrade, a CONNECT or a WebSocket; the function gets the server's end of the connection. */
  replyUpgrade(accept: UpgradeAcceptor): MockScope {
    if (typeof accept !== 'function') throw new InvalidArgumentError('a function must accept the socket')
    return this.#add({ kind: 'upgrade', accept, data: NO_DATA })
  }

  /** Replies with server-sent events, until the iterable ends. A function makes it for each request. */
  replyEvents(events: MockEvents | (() => MockEvents)): MockScope {
    const make = typeof events === 'function' ? events : () => events
    const headers = { 'content-type': 'text/event-stream' }
    return this.#add(fixedReply(200, () => eventsText(make()), { headers }, this.#defaults))
  }

  /** Header fields of all replies that are defined after this. Those of a reply win. */
  defaultReplyHeaders(headers: HeadersInput): this {
    if (headers === undefined) throw new InvalidArgumentError('headers must be defined')
    this.#defaults = { ...this.#defaults, headers: readReplyFields(headers) }
    return this
  }

  /** Trailers of all replies that are defined after this. Those of a reply win. */
  defaultReplyTrailers(trailers: HeadersInput): this {
    if (trailers === undefined) throw new InvalidArgumentError('trailers must be defined')
    this.#defaults = { ...this.#defaults, trailers: readReplyFields(trailers) }
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

/** The types under the names that programs written for undici use. */
export declare namespace MockInterceptor {
  export type {
    MockInterceptorOptions as Options,
    MockReplyOptions,
    MockReplyOptionsCallback,
    MockResponseCallbackOptions,
    MockResponseDataHandler,
    MockResponseOptions,
    MockScope,
  }
}
