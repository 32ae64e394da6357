/**
 * The request for an event stream, which is sent once for each attempt: with fresh header fields, the id to
 * resume after, and the credentials of the URL once the server has asked for them.
 */

import { basicCredentials, withoutCredentials } from '../base/address/basic-credentials.ts'
import type { RequestInit, RequestSettings } from '../fetch/declared-classes.ts'
import { fetch } from '../fetch/fetch.ts'
import { Headers } from '../fetch/headers/headers.ts'
import { isOnce } from '../fetch/init.ts'
import { Request } from '../fetch/request.ts'
import type { Response } from '../fetch/response.ts'
import { isFieldValue } from '../protocol/ascii.ts'
import type { StreamPlan } from './stream-options.ts'

const UNAUTHORIZED = 401

export class StreamRequest {
  readonly #plan: StreamPlan
  readonly #request: Request
  /** Null if the URL has none. */
  readonly #credentials: string | null
  /** The server has answered 401. From then on, the credentials are sent at once. */
  #isChallenged = false
  /** Whether it can be sent again. */
  readonly isReplayable: boolean

  /** Throws if `fetch` would refuse the arguments. */
  constructor(url: URL, init: RequestSettings, plan: StreamPlan) {
    const { method, body, headers, dispatcher } = plan
    this.#plan = plan
    this.#credentials = basicCredentials(url)
    this.isReplayable = !isOnce(body)
    this.#request = new Request(withoutCredentials(url), {
      cache: 'no-store',
      ...init,
      method,
      body,
      dispatcher,
      duplex: 'half',
      headers: typeof headers === 'function' ? undefined : headers,
    })
  }

  async send(lastEventId: string, signal: AbortSignal): Promise<Response> {
    const fields = await this.#fields(lastEventId, signal)
    signal.throwIfAborted()
    const { dispatcher, idleTimeout } = this.#plan
    const init: RequestSettings = { headers: fields, signal, dispatcher }
    if (idleTimeout > 0) init.bodyTimeout = 0
    const send = (): Promise<Response> => {
      if (this.#isChallenged) fields.set('authorization', this.#credentials!)
      return fetch(this.isReplayable ? this.#request.clone() : this.#request, init as RequestInit)
    }
    const response = await send()
    if (!this.#isChallenge(response, fields)) return response
    this.#isChallenged = true
    // The body is not needed, and may never end.
    response.body?.cancel().catch(() => {})
    return send()
  }

  async #fields(lastEventId: string, signal: AbortSignal): Promise<Headers> {
    const fields = new Headers(this.#request.headers)
    const { headers } = this.#plan
    if (typeof headers === 'function') {
      const fresh = await Promise.race([headers(), aborted(signal)])
      new Headers(fresh).forEach((value, name) => void fields.set(name, value))
    }
    if (!fields.has('accept')) fields.set('accept', 'text/event-stream')
    // UTF-8, with one character for each byte.
    const id = Buffer.from(lastEventId).toString('latin1')
    if (id !== '' && isFieldValue(id)) fields.set('last-event-id', id)
    return fields
  }

  /** A foreign origin, after a redirect, must not get the credentials. */
  #isChallenge(response: Response, fields: Headers): boolean {
    if (response.status !== UNAUTHORIZED || this.#credentials === null || this.#isChallenged) return false
    if (!this.isReplayable || fields.has('authorization')) return false
    return new URL(response.url).origin === new URL(this.#request.url).origin
  }
}

/** Rejects when the signal is aborted: the caller's function may never return the header fields. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
