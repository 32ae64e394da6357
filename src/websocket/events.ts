/**
 * The events of a WebSocket. Where the runtime has the class, that one is used, so that `instanceof` agrees
 * with the global; Node 20 has only `MessageEvent`.
 */

type AnyData = globalThis.MessageEvent['data']

export interface MessageEventInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
  data?: unknown
  origin?: string
  lastEventId?: string
}

export interface MessageEvent extends Event {
  /** A string, or a Blob or ArrayBuffer as the socket's `binaryType` says. */
  readonly data: AnyData
  /** Of the socket's URL. */
  readonly origin: string
  readonly lastEventId: string
  readonly ports: readonly unknown[]
}

export interface CloseEventInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
  wasClean?: boolean
  code?: number
  reason?: string
}

/** The connection is closed. */
export interface CloseEvent extends Event {
  /** Close frames went both ways. */
  readonly wasClean: boolean
  /** What the server closed with; 1005 when it named none, 1006 when it did not say that it closes. */
  readonly code: number
  readonly reason: string
}

export interface ErrorEventInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
  message?: string
  filename?: string
  lineno?: number
  colno?: number
  error?: unknown
}

export interface ErrorEvent extends Event {
  readonly message: string
  readonly filename: string
  readonly lineno: number
  readonly colno: number
  readonly error: unknown
}

export type MessageEventConstructor = new (type: string, init?: MessageEventInit) => MessageEvent
export type CloseEventConstructor = new (type: string, init?: CloseEventInit) => CloseEvent
export type ErrorEventConstructor = new (type: string, init?: ErrorEventInit) => ErrorEvent

class OwnCloseEvent extends Event implements CloseEvent {
  readonly #wasClean: boolean
  readonly #code: number
  readonly #reason: string

  constructor(type: string, init: CloseEventInit = {}) {
    super(type, init)
    const { wasClean = false, code = 0, reason = '' } = init
    this.#wasClean = Boolean(wasClean)
    this.#code = Number(code) & 0xffff
    this.#reason = String(reason)
  }

  get wasClean(): boolean {
    return this.#wasClean
  }

  get code(): number {
    return this.#code
  }

  get reason(): string {
    return this.#reason
  }

  get [Symbol.toStringTag](): string {
    return 'CloseEvent'
  }
}

class OwnErrorEvent extends Event implements ErrorEvent {
  readonly #message: string
  readonly #filename: string
  readonly #lineno: number
  readonly #colno: number
  readonly #error: unknown

  constructor(type: string, init: ErrorEventInit = {}) {
    super(type, init)
    const { message = '', filename = '', lineno = 0, colno = 0, error } = init
    this.#message = String(message)
    this.#filename = String(filename)
    this.#lineno = Number(lineno) >>> 0
    this.#colno = Number(colno) >>> 0
    this.#error = error
  }

  get message(): string {
    return this.#message
  }

  get filename(): string {
    return this.#filename
  }

  get lineno(): number {
    return this.#lineno
  }

  get colno(): number {
    return this.#colno
  }

  get error(): unknown {
    return this.#error
  }

  get [Symbol.toStringTag](): string {
    return 'ErrorEvent'
  }
}

const runtime = globalThis as { CloseEvent?: CloseEventConstructor; ErrorEvent?: ErrorEventConstructor }

// The types of the runtime's class differ between its versions and from the DOM's.
const RuntimeMessageEvent = globalThis.MessageEvent as unknown as MessageEventConstructor

/** The runtime's, but for one thing: that of Node 20 lets its list of ports be changed. */
export const MessageEvent: MessageEventConstructor = class MessageEvent extends RuntimeMessageEvent {
  override get ports(): readonly unknown[] {
    return Object.freeze(super.ports)
  }
}
export const CloseEvent: CloseEventConstructor = runtime.CloseEvent ?? OwnCloseEvent
export const ErrorEvent: ErrorEventConstructor = runtime.ErrorEvent ?? OwnErrorEvent
