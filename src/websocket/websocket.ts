/**
 * The public `WebSocket` (WHATWG WebSockets): states, events and the checks of arguments. Opening is done by
 * `opening-handshake.ts`, everything on the wire by `connection.ts`.
 */

import { isArrayBuffer, isSharedArrayBuffer } from 'node:util/types'
import { sourceBytes } from '../base/bytes/source-bytes.ts'
import { runIn } from '../base/loop/call-context.ts'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { ABNORMAL, NORMAL } from '../protocol/websocket/close-code.ts'
import { MAX_CONTROL_PAYLOAD } from '../protocol/websocket/constants.ts'
import type { Agreement } from '../protocol/websocket/handshake.ts'
import type { MessageBytes } from '../protocol/websocket/message-collector.ts'
import { defineEventHandlers, type EventHandlers } from '../web/event-handlers.ts'
import { CloseEvent, ErrorEvent, receivedMessage } from '../web/events.ts'
import { asString, clampToUint16, requireArguments } from '../web/idl.ts'
import { defineConstants, defineInterface, defineReferencing } from '../web/interface.ts'
import { publish, publishOpen, webSocketChannels } from './channels.ts'
import { type Closure, WebSocketConnection } from './connection.ts'
import type * as declared from './declared-web-socket.ts'
import type { BinaryType, EventName } from './declared-web-socket.ts'
import { limitsOf } from './dispatcher-limits.ts'
import { type Opened, OpeningHandshake, type OpeningRequest } from './opening-handshake.ts'
import { readInit, readOpening, type WebSocketInit } from './socket-init.ts'
import { checkClose } from './websocket-error.ts'

export type { WebSocketInit } from './socket-init.ts'

const CONNECTING = 0
const OPEN = 1
const CLOSING = 2
const CLOSED = 3

type ReadyState = typeof CONNECTING | typeof OPEN | typeof CLOSING | typeof CLOSED

const EVENTS: readonly EventName[] = ['open', 'message', 'error', 'close']

/** Registered globally, so that `ping` of another copy of the library finds it. */
const SEND_PING = Symbol.for('ventuno.sendPing')

export type WebSocket = declared.WebSocket

type Defined = `on${EventName}` | 'CONNECTING' | 'OPEN' | 'CLOSING' | 'CLOSED'

// biome-ignore lint/correctness/noUnusedVariables: merged with the class, whose static block defines these
interface SocketTarget extends Pick<declared.WebSocket, Defined> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: see above
class SocketTarget extends EventTarget {
  declare static readonly CONNECTING: 0
  declare static readonly OPEN: 1
  declare static readonly CLOSING: 2
  declare static readonly CLOSED: 3
  static {
    Object.defineProperty(SocketTarget.prototype, SEND_PING, {
      value(this: SocketTarget, payload: Uint8Array): void {
        if (this.#state === OPEN) this.#connection!.sender.ping(payload)
      },
    })
    defineConstants(SocketTarget, { CONNECTING, OPEN, CLOSING, CLOSED })
    defineReferencing(SocketTarget.prototype, (socket, on) => socket.#setReferenced(on))
    defineEventHandlers(SocketTarget.prototype, EVENTS, (socket) => socket.#handlers)
    defineInterface(SocketTarget, 'WebSocket')
  }

  readonly #request: OpeningRequest
  readonly #origin: string
  readonly #opening: OpeningHandshake
  #state: ReadyState = CONNECTING
  #connection: WebSocketConnection | null = null
  #agreement: Agreement | null = null
  #binaryType: BinaryType = 'blob'
  #referenced = true
  readonly #handlers: EventHandlers = new Map()

  constructor(url: string | URL, options: string | Iterable<string> | WebSocketInit | undefined = undefined) {
    super()
    // biome-ignore lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
    requireArguments(arguments.length, 1, 'WebSocket constructor')
    this.#request = readOpening(url, readInit(options))
    this.#origin = this.#request.url.origin
    this.#opening = new OpeningHandshake(this.#request, {
      onOpened: (opened) => this.#onOpened(opened),
      onFailed: (error) => this.#onClosed({ code: ABNORMAL, reason: '', wasClean: false, error }),
    })
    this.#opening.start()
  }

  get url(): string {
    return this.#request.url.href
  }

  get readyState(): ReadyState {
    return this.#state
  }

  get bufferedAmount(): number {
    return this.#connection === null ? 0 : this.#connection.sender.buffered
  }

  get extensions(): string {
    return this.#agreement?.extensions ?? ''
  }

  get protocol(): string {
    return this.#agreement?.protocol ?? ''
  }

  get binaryType(): BinaryType {
    return this.#binaryType
  }

  set binaryType(value: BinaryType) {
    this.#binaryType = value === 'arraybuffer' ? value : 'blob'
  }

  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void {
    // biome-ignore lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
    requireArguments(arguments.length, 1, 'WebSocket.send')
    const message = isBinary(data) ? data : asString(data)
    if (this.#state === CONNECTING) throw new DOMException('Sent before connected.', 'InvalidStateError')
    if (this.#state !== OPEN) return
    const { sender } = this.#connection!
    if (typeof message === 'string') sender.text(message)
    else if (message instanceof Blob) sender.blob(message)
    else sender.binary(sourceBytes(message))
  }

  close(code: number | undefined = undefined, reason: string | undefined = undefined): void {
    const number = code === undefined ? null : clampToUint16(code)
    const text = reason === undefined ? null : asString(reason)
    checkClose(number, text ?? '')
    if (this.#state === CONNECTING) {
      this.#state = CLOSING
      this.#opening.abort()
      // In a separate task, because the caller of `close()` may still add listeners.
      runtimeSetImmediate(() => runIn(this.#opening.context, this.#onGivenUp, this))
    } else if (this.#state === OPEN) {
      this.#state = CLOSING
      this.#connection!.close(number ?? (text === null ? null : NORMAL), text ?? '')
    }
  }

  #setReferenced(on: boolean): void {
    this.#referenced = on
    this.#connection?.setReferenced(on)
  }

  #onOpened(opened: Opened): void {
    const connection = new WebSocketConnection(this, opened, limitsOf(this.#request.dispatcher), {
      onMessage: (data) => this.#onMessage(data),
      onClosing: () => {
        this.#state = CLOSING
      },
      onClosed: (closure) => this.#onClosed(closure),
    })
    this.#connection = connection
    this.#agreement = opened.agreement
    this.#state = OPEN
    if (!this.#referenced) connection.setReferenced(false)
    this.dispatchEvent(new Event('open'))
    publishOpen(this, opened)
    connection.start()
  }

  #onMessage(message: string | MessageBytes): void {
    if (this.#state !== OPEN) return
    let data: unknown = message
    if (typeof message !== 'string') data = this.#binaryType === 'blob' ? new Blob([message]) : message.buffer
    this.dispatchEvent(receivedMessage('message', data, this.#origin, ''))
  }

  #onGivenUp(): void {
    const error = new TypeError('WebSocket is closed before the connection is established')
    this.#onClosed({ code: ABNORMAL, reason: '', wasClean: false, error })
  }

  #onClosed({ code, reason, wasClean, error }: Closure): void {
    this.#state = CLOSED
    if (error !== null) this.dispatchEvent(new ErrorEvent('error', { error, message: error.message }))
    this.dispatchEvent(new CloseEvent('close', { wasClean, code, reason }))
    publish(webSocketChannels.close, { websocket: this, code, reason })
  }
}

/**
 * A WebSocket over HTTP/1.1 or HTTP/2, whichever its dispatcher uses with the server.
 *
 * @example
 * const socket = new WebSocket('wss://example.com/feed', { dispatcher: client })
 * socket.addEventListener('message', ({ data }) => console.log(data))
 */
export const WebSocket: typeof declared.WebSocket = SocketTarget

/**
 * Sends a ping if the socket is open. The answer is published on the channel `undici:websocket:pong`.
 *
 * @param payload At most 125 bytes.
 */
export function ping(socket: WebSocket, payload: Buffer = Buffer.alloc(0)): void {
  if (!Buffer.isBuffer(payload)) throw new TypeError('Expected buffer payload')
  if (payload.length > MAX_CONTROL_PAYLOAD) {
    throw new TypeError(`A PING frame cannot have a body larger than ${MAX_CONTROL_PAYLOAD} bytes.`)
  }
  const sender = socket as unknown as Record<symbol, (payload: Uint8Array) => void>
  sender[SEND_PING]!(payload)
}

/** As in Web IDL, shared memory does not count as bytes: it becomes a string. */
function isBinary(data: unknown): data is ArrayBuffer | ArrayBufferView | Blob {
  if (ArrayBuffer.isView(data)) return !isSharedArrayBuffer(data.buffer)
  return isArrayBuffer(data) || data instanceof Blob
}
