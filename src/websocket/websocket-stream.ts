/**
 * The public `WebSocketStream` (WHATWG WebSockets §4): a WebSocket as two streams and two promises. Opening
 * is done by `opening-handshake.ts`, everything on the wire by `connection.ts`.
 */
import type {
  ReadableStream,
  ReadableStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
} from 'node:stream/web'
import { isArrayBuffer, isSharedArrayBuffer } from 'node:util/types'
import { orAbortError } from '../base/abort/abort-error.ts'
import { AbortLink } from '../base/abort/abort-link.ts'
import type { AbortSource } from '../base/abort/signal.ts'
import { sourceBytes } from '../base/bytes/source-bytes.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { Deferred } from '../base/loop/deferred.ts'
import { loadWebStreams } from '../base/node/lazy-modules.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { ABNORMAL, isSendable } from '../protocol/websocket/close-code.ts'
import type { MessageBytes } from '../protocol/websocket/message-collector.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { requireArguments, toDictionary, toSequence, toSignal } from '../web/idl.ts'
import { defineInterface } from '../web/interface.ts'
import { publish, publishOpen, webSocketChannels } from './channels.ts'
import { type Closure, WebSocketConnection } from './connection.ts'
import { limitsOf } from './dispatcher-limits.ts'
import { type Opened, OpeningHandshake, type OpeningRequest } from './opening-handshake.ts'
import type { HeadersInit } from './socket-address.ts'
import { readOpening } from './socket-init.ts'
import {
  type CheckedCloseInfo,
  endedWith,
  readCloseInfo,
  type WebSocketCloseInfo,
  WebSocketError,
} from './websocket-error.ts'

/** The values that can be written. */
export type WebSocketChunk = string | ArrayBuffer | ArrayBufferView

/** Options of `WebSocketStream`. */
export interface WebSocketStreamOptions {
  /** Subprotocols to ask for, the preferred one first. Default: none. */
  protocols?: Iterable<string> | undefined
  /** Gives up opening; without effect afterwards. */
  signal?: AbortSignal | AbortSource | null | undefined
  /** Makes the connection, and its `webSocketOptions` limit what is received. Default: the global one. */
  dispatcher?: Dispatching | undefined
  /** Sent with the handshake. */
  headers?: HeadersInit | null | undefined
}

/** An open connection. */
export interface WebSocketConnectionInfo {
  /** The extensions that the server agreed to, as it wrote them. */
  readonly extensions: string
  /** The subprotocol the server chose. */
  readonly protocol: string
  /** The messages that arrive: strings, and bytes for binary ones. */
  readonly readable: ReadableStream<string | Uint8Array>
  /** Takes messages to send. */
  readonly writable: WritableStream<WebSocketChunk>
}

/** How a connection was closed. */
export interface WebSocketClosure {
  /** The code of the server; 1005 if its close frame had none. */
  readonly closeCode: number
  /** The reason of the server; may be empty. */
  readonly reason: string
}

type State =
  | { readonly at: 'connecting'; readonly opening: OpeningHandshake }
  | { readonly at: 'open'; readonly connection: WebSocketConnection }
  /** Nothing more is sent or delivered. */
  | { readonly at: 'closing' }

const NO_CODE: CheckedCloseInfo = { closeCode: null, reason: '' }

/**
 * A WebSocket whose messages are read and written through streams, so that a slow reader slows the server
 * down.
 *
 * @example
 * const { readable, writable } = await new WebSocketStream('wss://example.com/feed').opened
 * for await (const message of readable) console.log(message)
 */
export class WebSocketStream {
  readonly #request: OpeningRequest
  readonly #opened = new Deferred<WebSocketConnectionInfo>()
  readonly #closed = new Deferred<WebSocketClosure>()
  #state: State
  /** Null before the connection is open, and once `readable` has ended. */
  #incoming: ReadableStreamDefaultController<string | Uint8Array> | null = null
  #outgoing: WritableStreamDefaultController | null = null
  /** The write that the socket has not taken yet: a stream writes one chunk at a time. */
  #pending: Deferred | null = null
  #link: AbortLink | null = null

  /**
   * @param url `ws:`, `wss:`, `http:` or `https:`, without a fragment.
   * @throws {DOMException} `SyntaxError` for a bad URL or subprotocol.
   */
  constructor(url: string | URL, options: WebSocketStreamOptions | null = null) {
    const where = 'WebSocketStream constructor'
    // Rejections need not be handled: the other promise and the streams show them, too.
    for (const { promise } of [this.#opened, this.#closed]) promise.catch(ignoreError)
    // biome-ignore lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
    requireArguments(arguments.length, 1, where)
    const { protocols, signal, dispatcher, headers } = ownMembers(toDictionary(options, where) ?? {})
    const source = toSignal(signal, where)
    const names = protocols === undefined ? [] : toSequence(protocols, `${where}: protocols`)
    this.#request = readOpening(url, { protocols: names as Iterable<string>, headers, dispatcher })
    const opening = new OpeningHandshake(this.#request, {
      onOpened: (opened) => this.#onOpened(opened),
      onFailed: (error) => this.#onNeverOpened(error),
    })
    this.#state = { at: 'connecting', opening }
    if (source !== null) this.#link = AbortLink.to(source, { onAbort: (reason) => this.#giveUp(reason) })
    opening.start()
  }

  /** Where it connects to. */
  get url(): string {
    return this.#request.url.href
  }

  /** The open connection. Rejects with a `WebSocketError`, or the reason of the signal. */
  get opened(): Promise<WebSocketConnectionInfo> {
    return this.#opened.promise
  }

  /** How the connection was closed. Rejects with a `WebSocketError` if there was no closing handshake. */
  get closed(): Promise<WebSocketClosure> {
    return this.#closed.promise
  }

  /**
   * Closes the connection, or gives up opening it.
   *
   * @throws {DOMException} for a code or reason that cannot be sent.
   */
  close(closeInfo: WebSocketCloseInfo | null = null): void {
    this.#close(readCloseInfo(closeInfo, 'WebSocketStream.close'))
  }

  /** Closes the connection, and waits until it is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    // The end of a block is not the place to report how the server has closed.
    await this.closed.catch(ignoreError)
  }

  #close({ closeCode, reason }: CheckedCloseInfo): void {
    const state = this.#state
    if (state.at === 'connecting') {
      state.opening.abort()
      this.#onNeverOpened(null)
    } else if (state.at === 'open') {
      this.#state = { at: 'closing' }
      // The server's answer may come after messages that nobody reads.
      state.connection.hold(false)
      state.connection.close(closeCode, reason)
    }
  }

  /** The signal was aborted. */
  #giveUp(given: unknown): void {
    if (this.#state.at !== 'connecting') return
    const reason = orAbortError(given)
    this.#state.opening.abort()
    this.#leave()
    this.#opened.reject(reason)
    this.#closed.reject(reason)
  }

  #onNeverOpened(cause: Error | null): void {
    this.#leave()
    this.#opened.reject(endedWith('Socket never opened', NO_CODE, cause))
    this.#closed.reject(uncleanClosure(ABNORMAL, '', cause))
  }

  #leave(): void {
    this.#state = { at: 'closing' }
    this.#link?.end()
    this.#link = null
  }

  #onOpened(opened: Opened): void {
    const { extensions, protocol } = opened.agreement
    this.#leave()
    const connection = new WebSocketConnection(this, opened, limitsOf(this.#request.dispatcher), {
      onMessage: (message) => this.#receive(message),
      onClosing: () => {
        this.#state = { at: 'closing' }
      },
      onClosed: (closure) => this.#onClosed(closure),
    })
    this.#state = { at: 'open', connection }
    const { ReadableStream: Readable, WritableStream: Writable } = loadWebStreams()
    const readable = new Readable<string | Uint8Array>({
      start: (controller) => {
        this.#incoming = controller
      },
      pull: () => {
        if (this.#state.at === 'open') connection.hold(false)
      },
      cancel: (reason) => {
        this.#incoming = null
        this.#close(closeInfoOf(reason))
      },
    })
    const writable = new Writable<WebSocketChunk>({
      start: (controller) => {
        this.#outgoing = controller
      },
      write: (chunk) => this.#write(toMessage(chunk)),
      close: () => this.#close(NO_CODE),
      abort: (reason) => this.#close(closeInfoOf(reason)),
    })
    this.#opened.resolve({ extensions, protocol, readable, writable })
    publishOpen(this, opened)
    connection.start()
  }

  /** The socket is not read while messages wait. */
  #receive(message: string | MessageBytes): void {
    const incoming = this.#incoming
    if (this.#state.at !== 'open' || incoming === null) return
    incoming.enqueue(typeof message === 'string' ? message : new Uint8Array(message.buffer))
    if ((incoming.desiredSize ?? 0) <= 0) this.#state.connection.hold(true)
  }

  /** Resolves when the socket has taken the message. */
  #write(message: string | Uint8Array): Promise<void> {
    if (this.#state.at !== 'open') return Promise.resolve()
    const { sender } = this.#state.connection
    const pending = new Deferred()
    const written = (): void => {
      if (this.#pending === pending) this.#pending = null
      pending.resolve()
    }
    this.#pending = pending
    if (typeof message === 'string') sender.text(message, written)
    else sender.binary(message, written)
    return pending.promise
  }

  #onClosed({ code, reason, wasClean, error }: Closure): void {
    this.#state = { at: 'closing' }
    if (wasClean) {
      this.#incoming?.close()
      this.#endWriting(new DOMException('The connection is closed', 'InvalidStateError'))
      this.#closed.resolve({ closeCode: code, reason })
    } else {
      const unclean = uncleanClosure(code, reason, error)
      this.#incoming?.error(unclean)
      this.#endWriting(unclean)
      this.#closed.reject(unclean)
    }
    publish(webSocketChannels.close, { websocket: this, code, reason })
  }

  #endWriting(error: Error): void {
    this.#outgoing!.error(error)
    // A stream is not errored before its last write has settled.
    this.#pending?.reject(error)
  }

  static {
    defineInterface(WebSocketStream, 'WebSocketStream')
  }
}

function uncleanClosure(closeCode: number, reason: string, cause: Error | null): WebSocketError {
  return endedWith('unclean close', { closeCode, reason }, cause)
}

/** A `WebSocketError` from another connection may have a code that cannot be sent. */
function closeInfoOf(reason: unknown): CheckedCloseInfo {
  if (!(reason instanceof WebSocketError)) return NO_CODE
  const { closeCode } = reason
  return closeCode === null || isSendable(closeCode) ? reason : NO_CODE
}

function toMessage(chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string') return chunk
  const isView = ArrayBuffer.isView(chunk)
  const buffer = isView ? chunk.buffer : chunk
  const what = isView ? 'A message cannot be a view on a' : 'A message cannot be a'
  // Web IDL: another thread, or the caller, could change them while they wait.
  if (isSharedArrayBuffer(buffer)) throw new TypeError(`${what} SharedArrayBuffer`)
  if (!isArrayBuffer(buffer)) {
    throw new TypeError('A message must be a string, an ArrayBuffer or a view of one')
  }
  if ((buffer as { resizable?: boolean }).resizable === true)
    throw new TypeError(`${what} resizable ArrayBuffer`)
  return sourceBytes(chunk as ArrayBuffer | ArrayBufferView)
}
