/**
 * The class `WebSocket` as programs see it. It has no private fields, so that the compiler accepts a
 * `WebSocket` of the runtime or of undici in its place. The implementation is checked against it.
 */
import type { Blob } from 'node:buffer'
import type { CloseEvent, ErrorEvent, MessageEvent } from '../web/events.ts'
import type { WebSocketInit } from './socket-init.ts'

/** The form of binary messages. */
export type BinaryType = 'blob' | 'arraybuffer'

/** The events of a `WebSocket`. */
export interface WebSocketEventMap {
  /** Messages can be sent. */
  open: Event
  /** A message has arrived. */
  message: MessageEvent
  /** The connection failed; `close` follows. */
  error: ErrorEvent
  /** The connection is closed. */
  close: CloseEvent
}

export type EventName = keyof WebSocketEventMap
/** The value of `onopen` and its siblings. */
export type Handler<K extends EventName> = ((this: WebSocket, event: WebSocketEventMap[K]) => unknown) | null
type AnyListener = Parameters<EventTarget['addEventListener']>[1]
type ListenerOptions = Parameters<EventTarget['addEventListener']>[2]
type Listener<K extends EventName> = Handler<K> | { handleEvent(event: WebSocketEventMap[K]): unknown }

/** A WebSocket over HTTP/1.1 or HTTP/2, whichever its dispatcher uses with the server. */
export declare class WebSocket extends EventTarget {
  /** `readyState` before the connection is open. */
  static readonly CONNECTING: number
  /** `readyState` while messages can be sent. */
  static readonly OPEN: number
  /** `readyState` after `close()` was called, or the server wants to close. */
  static readonly CLOSING: number
  /** `readyState` when the connection is closed, or was never opened. */
  static readonly CLOSED: number
  readonly CONNECTING: number
  readonly OPEN: number
  readonly CLOSING: number
  readonly CLOSED: number
  /**
   * @param url `ws:`, `wss:`, `http:` or `https:`, without a fragment.
   * @param options Subprotocols, or an object with more.
   * @throws {DOMException} `SyntaxError` for a bad URL or subprotocol.
   */
  constructor(url: string | URL, options?: string | Iterable<string> | WebSocketInit)
  /** Where it connects to. */
  get url(): string
  /** `CONNECTING`, `OPEN`, `CLOSING` or `CLOSED`. */
  get readyState(): number
  /** Bytes of messages given to `send()` that have not been handed to the network. */
  get bufferedAmount(): number
  /** The extensions that the server agreed to, as it wrote them. */
  get extensions(): string
  /** The subprotocol the server chose. */
  get protocol(): string
  /** The form of the data of binary messages. Default: `blob`. */
  get binaryType(): BinaryType
  set binaryType(value: BinaryType)
  /** Called when messages can be sent. */
  get onopen(): Handler<'open'>
  set onopen(handler: Handler<'open'>)
  /** Called for each message. */
  get onmessage(): Handler<'message'>
  set onmessage(handler: Handler<'message'>)
  /** Called when the connection failed; `onclose` is called after it. */
  get onerror(): Handler<'error'>
  set onerror(handler: Handler<'error'>)
  /** Called when the connection is closed. */
  get onclose(): Handler<'close'>
  set onclose(handler: Handler<'close'>)
  /**
   * Sends a message: text for a string, binary for bytes and Blobs, which are copied or read in order. Does
   * nothing once the connection is closing.
   *
   * @throws {DOMException} `InvalidStateError` before it is open.
   */
  send(data: string | ArrayBufferLike | ArrayBufferView | Blob | globalThis.Blob): void
  /**
   * Closes the connection, or gives up opening it.
   *
   * @param code 1000 or 3000 to 4999.
   * @param reason At most 123 bytes of UTF-8.
   */
  close(code?: number, reason?: string): void
  /** The listeners of its own events get them with their types. */
  addEventListener<K extends EventName>(type: K, listener: Listener<K>, options?: ListenerOptions): void
  addEventListener(type: string, listener: AnyListener, options?: ListenerOptions): void
  removeEventListener<K extends EventName>(type: K, listener: Listener<K>, options?: ListenerOptions): void
  removeEventListener(type: string, listener: AnyListener, options?: ListenerOptions): void
}
