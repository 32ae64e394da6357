/**
 * Opens a WebSocket: sends the request through the dispatcher, checks the answer, and tries again after some
 * answers. The dispatcher chooses the HTTP version; the status of a granted request shows which one it was.
 */

import type { Duplex } from 'node:stream'
import { basicCredentials } from '../base/address/basic-credentials.ts'
import { getGlobalOrigin } from '../base/address/global-origin.ts'
import { isTrustworthy } from '../base/address/trustworthy.ts'
import { type CallContext, captureContext } from '../base/loop/call-context.ts'
import { discardSocket } from '../base/node/discard-socket.ts'
import { loadCrypto } from '../base/node/lazy-modules.ts'
import { setOwn } from '../base/object/own-record.ts'
import type { HeaderList } from '../fetch/headers/header-list.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { OFFER } from '../protocol/websocket/extension.ts'
import {
  ACCEPT_SUFFIX,
  type Agreement,
  type Handshake,
  judgeAnswer,
  NO_EXTENDED_CONNECT,
  SWITCHING_PROTOCOLS,
} from '../protocol/websocket/handshake.ts'
import { listItems } from '../protocol/websocket/subprotocol.ts'
import { Attempt, type AttemptOwner } from '../relay/attempt.ts'
import { codeOf } from '../relay/error-facts.ts'
import type { Head } from '../relay/response-source.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { httpOrigin, httpPath } from './socket-address.ts'

export interface OpeningRequest {
  readonly url: URL
  readonly protocols: readonly string[]
  /** Of the caller. */
  readonly headers: HeaderList
  readonly dispatcher: Dispatching
}

export interface Opened {
  readonly socket: Duplex
  readonly agreement: Agreement
  readonly response: { readonly status: number; readonly statusText: string; readonly headers: HeaderObject }
}

/** One of these is called, once, and never inside `start()`. */
export interface OpeningObserver {
  onOpened(opened: Opened): void
  onFailed(error: TypeError): void
}

const UNAUTHORIZED = 401
const KEY_BYTES = 16

const PROTOCOL_FIELD = 'sec-websocket-protocol'

export class OpeningHandshake implements AttemptOwner {
  readonly #request: OpeningRequest
  readonly #observer: OpeningObserver
  /** The async context of the call that opens it. */
  readonly context: CallContext | null = captureContext()
  /** The current attempt; others are ignored. */
  #attempt: Attempt | null = null
  /** What the last request offered, and the `sec-websocket-accept` that it expects. */
  #sent: Handshake = { protocols: [], accept: '' }
  #authorized = false
  #http1Only = false
  #done = false

  constructor(request: OpeningRequest, observer: OpeningObserver) {
    this.#request = request
    this.#observer = observer
  }

  /**
   * Sends a microtask later: a dispatcher may answer at once, and the caller has to add its listeners first.
   */
  start(): void {
    queueMicrotask(() => this.#send())
  }

  /** Gives up. The observer is not called afterwards. */
  abort(): void {
    this.#done = true
    this.#attempt?.abort()
  }

  #send(): void {
    if (this.#done) return
    const { url, dispatcher } = this.#request
    const { createHash, randomBytes } = loadCrypto()
    const key = randomBytes(KEY_BYTES).toString('base64')
    const fields = this.#fields(key)
    const accept = createHash('sha1')
      .update(key + ACCEPT_SUFFIX)
      .digest('base64')
    this.#sent = { protocols: listItems(fields.get(PROTOCOL_FIELD) ?? ''), accept }
    const options: DispatchOptions & { allowH2?: boolean } = {
      path: httpPath(url),
      origin: httpOrigin(url),
      method: 'GET',
      body: null,
      headers: toObject(fields),
      maxRedirections: 0,
      upgrade: 'websocket',
      ...(this.#http1Only ? { allowH2: false } : null),
    }
    const attempt = new Attempt(this, null, true)
    this.#attempt = attempt
    try {
      attempt.send((opts, handler) => dispatcher.dispatch(opts, handler), options)
    } catch (error) {
      this.onFailed(attempt, error)
    }
  }

  #fields(key: string): HeaderList {
    const { url, protocols, headers } = this.#request
    const fields = headers.copy()
    // The dispatcher sets it.
    fields.delete('host')
    /** Replaces the caller's value. */
    const set = (name: string, value: string): void => fields.set(name, name, value)
    set('sec-websocket-key', key)
    set('sec-websocket-version', '13')
    if (protocols.length > 0) set(PROTOCOL_FIELD, protocols.join(', '))
    set('sec-websocket-extensions', OFFER)
    if (this.#authorized) set('authorization', basicCredentials(url)!)
    fields.fill('accept', '*/*')
    fields.fill('accept-language', '*')
    const client = getGlobalOrigin()
    // RFC 6455 §4.1: the server uses it to decide whose pages may connect. Unlike with `fetch`, it is also
    // sent to the same origin.
    if (client !== undefined) fields.fill('origin', client.origin)
    if (isTrustworthy(url)) set('sec-fetch-mode', 'websocket')
    fields.fill('user-agent', 'ventuno')
    fields.fill('pragma', 'no-cache')
    fields.fill('cache-control', 'no-cache')
    fields.fill('accept-encoding', acceptedCodings(url, fields))
    return fields
  }

  onStarted(): void {}

  onHead(attempt: Attempt, { statusCode }: Head): void {
    if (statusCode < 200) return
    // The body is not needed, and reading it costs more than the connection is worth.
    this.#attempt = null
    attempt.abort()
    const { url, headers } = this.#request
    const canAuthorize = basicCredentials(url) !== null && !headers.has('authorization')
    if (statusCode === UNAUTHORIZED && canAuthorize && !this.#authorized) {
      this.#authorized = true
      this.#send()
    } else this.#fail(`Received network error or non-101 status code (${statusCode}).`)
  }

  onData(): void {}

  onEnd(): void {}

  onUpgrade(_attempt: Attempt, { statusCode: status, headers }: Head, socket: Duplex): void {
    const agreement = judgeAnswer(this.#sent, status, headers)
    if (typeof agreement === 'string') {
      discardSocket(socket)
      this.#fail(agreement)
      return
    }
    this.#done = true
    // HTTP/2 has no reason phrases. Only these two statuses are possible here.
    const statusText = status === SWITCHING_PROTOCOLS ? 'Switching Protocols' : 'OK'
    this.#observer.onOpened({ socket, agreement, response: { status, statusText, headers } })
  }

  onFailed(attempt: Attempt, error: unknown): void {
    if (attempt !== this.#attempt) return
    // With this code, the connection reports that the server speaks HTTP/2 without RFC 8441.
    const isUnsupported = codeOf((error as Partial<Error> | null)?.cause) === NO_EXTENDED_CONNECT.code
    if (isUnsupported && !this.#http1Only) {
      this.#http1Only = true
      this.#send()
    } else this.#fail('Received network error or non-101 status code.', error)
  }

  #fail(message: string, cause?: unknown): void {
    if (this.#done) return
    this.#done = true
    this.#observer.onFailed(cause === undefined ? new TypeError(message) : new TypeError(message, { cause }))
  }
}

function acceptedCodings(url: URL, fields: HeaderList): string {
  if (fields.get('range') !== null) return 'identity'
  return url.protocol === 'wss:' ? 'br, gzip, deflate, zstd' : 'gzip, deflate'
}

/** As `fetch` passes them, so that dispatchers and interceptors can read and change them. */
function toObject(fields: HeaderList): Record<string, string> {
  const object: Record<string, string> = {}
  fields.forEach((name, _lower, value) => void setOwn(object, name, String(value)))
  return object
}
