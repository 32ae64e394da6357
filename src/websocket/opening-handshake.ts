/**
 * From a URL to a socket on which both sides speak WebSocket: the request through the dispatcher, its answer,
 * and a second try after some of them. The dispatcher chooses the HTTP version; the status of a granted
 * request shows which it was.
 */

import type { Duplex } from 'node:stream'
import { discardSocket } from '../api/discard-socket.ts'
import { basicCredentials } from '../base/basic-credentials.ts'
import { type CallContext, captureContext } from '../base/call-context.ts'
import { getGlobalOrigin } from '../base/global-origin.ts'
import { loadCrypto } from '../base/lazy-modules.ts'
import { setOwn } from '../base/own-record.ts'
import { isTrustworthy } from '../base/trustworthy.ts'
import type { HeaderList } from '../fetch/headers/header-list.ts'
import { answerOlderCalls } from '../handler/older-calls.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { OFFER } from '../protocol/websocket/extension.ts'
import {
  ACCEPT_SUFFIX,
  type Agreement,
  judgeAnswer,
  NO_EXTENDED_CONNECT,
  SWITCHING_PROTOCOLS,
} from '../protocol/websocket/handshake.ts'
import { listItems } from '../protocol/websocket/subprotocol.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type Dispatching, whenRefused } from '../request/dispatching.ts'
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

export class OpeningHandshake {
  readonly #request: OpeningRequest
  readonly #observer: OpeningObserver
  /** Of the call that opens it. */
  readonly context: CallContext | null = captureContext()
  #attempt: Attempt | null = null
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

  /** Gives up; the observer is not called any more. */
  abort(): void {
    this.#done = true
    this.#attempt?.cancel()
  }

  #send(): void {
    if (this.#done) return
    const { url, dispatcher } = this.#request
    const { createHash, randomBytes } = loadCrypto()
    const key = randomBytes(KEY_BYTES).toString('base64')
    const fields = this.#fields(key)
    const protocols = listItems(fields.get(PROTOCOL_FIELD) ?? '')
    const accept = createHash('sha1')
      .update(key + ACCEPT_SUFFIX)
      .digest('base64')
    const attempt = new Attempt({
      onUpgraded: (status, fields, socket) => {
        const agreement = judgeAnswer({ protocols, accept }, status, fields)
        if (typeof agreement === 'string') {
          discardSocket(socket)
          this.#fail(agreement)
          return
        }
        this.#done = true
        // HTTP/2 has no phrases. These are the two statuses that can come here.
        const statusText = status === SWITCHING_PROTOCOLS ? 'Switching Protocols' : 'OK'
        this.#observer.onOpened({ socket, agreement, response: { status, statusText, headers: fields } })
      },
      onRefused: (status) => this.#onRefused(status),
      onError: (error) => this.#onError(error),
    })
    this.#attempt = attempt
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
    try {
      whenRefused(dispatcher.dispatch(options, attempt), attempt)
    } catch (error) {
      this.#onError(error)
    }
  }

  #fields(key: string): HeaderList {
    const { url, protocols, headers } = this.#request
    const fields = headers.copy()
    // The dispatcher sets it.
    fields.delete('host')
    /** Sets a field unless the caller has. */
    const fill = (name: string, value: string): void => {
      if (!fields.has(name)) fields.append(name, name, value)
    }
    /** Replaces a value of the caller. */
    const set = (name: string, value: string): void => {
      fields.delete(name)
      fields.append(name, name, value)
    }
    set('sec-websocket-key', key)
    set('sec-websocket-version', '13')
    if (protocols.length > 0) set(PROTOCOL_FIELD, protocols.join(', '))
    set('sec-websocket-extensions', OFFER)
    if (this.#authorized) set('authorization', basicCredentials(url)!)
    fill('accept', '*/*')
    fill('accept-language', '*')
    const client = getGlobalOrigin()
    // RFC 6455 §4.1: the server decides by it whose pages may connect. Unlike `fetch`, also towards the same origin.
    if (client !== undefined) fill('origin', client.origin)
    if (isTrustworthy(url)) set('sec-fetch-mode', 'websocket')
    fill('user-agent', 'ventuno')
    fill('pragma', 'no-cache')
    fill('cache-control', 'no-cache')
    fill('accept-encoding', acceptedCodings(url, fields))
    return fields
  }

  #onRefused(status: number): void {
    const { url, headers } = this.#request
    const canAuthorize = basicCredentials(url) !== null && !headers.has('authorization')
    if (status === UNAUTHORIZED && canAuthorize && !this.#authorized) {
      this.#authorized = true
      this.#send()
      return
    }
    this.#fail(`Received network error or non-101 status code (${status}).`)
  }

  #onError(error: unknown): void {
    if (isWithoutExtendedConnect(error) && !this.#http1Only) {
      this.#http1Only = true
      this.#send()
      return
    }
    this.#fail('Received network error or non-101 status code.', error)
  }

  #fail(message: string, cause?: unknown): void {
    if (this.#done) return
    this.#done = true
    this.#observer.onFailed(cause === undefined ? new TypeError(message) : new TypeError(message, { cause }))
  }
}

interface AttemptOutcome {
  onUpgraded(status: number, headers: HeaderObject, socket: Duplex): void
  onRefused(status: number): void
  onError(error: unknown): void
}

/** One request. It has one outcome, even if the dispatcher reports more. */
class Attempt implements DispatchHandler {
  #outcome: AttemptOutcome | null
  #abort: ((reason?: unknown) => void) | null = null

  constructor(outcome: AttemptOutcome) {
    this.#outcome = outcome
  }

  cancel(): void {
    this.#outcome = null
    this.#abort?.()
  }

  /** By a dispatcher that has returned a promise. */
  refuse(error: unknown): void {
    const outcome = this.#take()
    if (outcome === null) return
    this.#abort?.(error)
    outcome.onError(error)
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abort = abort
  }

  onRequestStart(controller: DispatchController): void {
    this.#abort = (reason) => controller.abort(reason)
    if (this.#outcome === null) controller.abort()
  }

  onRequestUpgrade(
    _controller: DispatchController,
    status: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    const outcome = this.#take()
    if (outcome === null) discardSocket(socket)
    else outcome.onUpgraded(status, headers, socket)
  }

  onResponseStart(controller: DispatchController, status: number): void {
    if (status < 200) return
    const outcome = this.#take()
    // The body is not needed, and reading it costs more than the connection is worth.
    controller.abort()
    outcome?.onRefused(status)
  }

  onResponseData(): void {}

  onResponseEnd(): void {}

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#take()?.onError(error)
  }

  #take(): AttemptOutcome | null {
    const outcome = this.#outcome
    this.#outcome = null
    return outcome
  }
}

answerOlderCalls(Attempt)

function acceptedCodings(url: URL, fields: HeaderList): string {
  if (fields.get('range') !== null) return 'identity'
  return url.protocol === 'wss:' ? 'br, gzip, deflate, zstd' : 'gzip, deflate'
}

/** Dispatchers and interceptors get the fields as those of `fetch`, so that they can read and change them. */
function toObject(fields: HeaderList): Record<string, string> {
  const object: Record<string, string> = {}
  fields.forEach((name, _lower, value) => void setOwn(object, name, String(value)))
  return object
}

/** The server speaks HTTP/2 without RFC 8441: the connection has said so with this code. */
function isWithoutExtendedConnect(error: unknown): boolean {
  const cause = (error as { cause?: { code?: unknown } | null } | null)?.cause
  return cause?.code === NO_EXTENDED_CONNECT.code
}
