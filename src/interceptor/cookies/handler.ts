/** Takes the cookies that the response to one request sets. */
import type { Duplex } from 'node:stream'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import {
  followedRedirects,
  NO_FACTS,
  responseFacts,
  stateFacts,
  withWritten,
} from '../../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { OwnOrigin } from '../../request/logical-origin.ts'
import type { CookieJarLike } from './options.ts'
import { requestUrl } from './request-url.ts'

/** The facts about most responses. */
const WITH_COOKIES = withWritten(NO_FACTS, 'cookie')

export class CookieHandler extends ForwardingHandler {
  readonly #jar: CookieJarLike
  readonly #opts: DispatchOptions
  readonly #own: OwnOrigin
  #context: unknown = null

  constructor(inner: DispatchHandler, jar: CookieJarLike, opts: DispatchOptions, own: OwnOrigin) {
    super(inner)
    this.#jar = jar
    this.#opts = opts
    this.#own = own
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#context = context
    super.onRequestStart(controller, context)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    // A user agent may ignore the cookies of informational responses (RFC 6265bis §5.6), which intermediaries
    // also send.
    if (statusCode >= 200) {
      const facts = responseFacts(controller)
      if (!facts.isStored) this.#store(controller, headers)
      // Also without a cookie: the next request may have one, and a cache outside would not see it.
      stateFacts(controller, facts === NO_FACTS ? WITH_COOKIES : withWritten(facts, 'cookie'))
    }
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#store(controller, headers)
    super.onRequestUpgrade(controller, statusCode, headers, socket)
  }

  /**
   * Where `redirect` is nearer to the origin, the response may be that of another host, which must not set
   * cookies here.
   */
  #answeringUrl(controller: DispatchController): URL | null {
    const followed = followedRedirects(controller, this.#context)
    if (followed === 'unknown') return null
    return followed.at(-1)?.to ?? requestUrl(this.#opts, this.#own)
  }

  #store(controller: DispatchController, headers: HeaderObject): void {
    const values = headers['set-cookie']
    if (values === undefined) return
    const url = this.#answeringUrl(controller)
    if (url === null) return
    for (const value of typeof values === 'string' ? [values] : values) {
      // Jars of other packages reject cookies that any server may send, or throw, and most do so later.
      try {
        ignoreRejection(this.#jar.setCookie(value, url))
      } catch {
        // The response is delivered without it.
      }
    }
  }
}
