/**
 * The events of a WebSocket. The classes are our own: reading those of the runtime makes it load its HTTP
 * client, which then installs a dispatcher for the whole process, and importing ventuno must not do that.
 */

// biome-ignore lint/suspicious/noExplicitAny: what a message holds is up to the peer, as in the DOM's types
type AnyData = any

/** What a `MessageEvent` is made from. */
export interface MessageEventInit {
  /** Whether the event bubbles. Default: false. */
  bubbles?: boolean
  /** Whether its default can be prevented. Default: false. */
  cancelable?: boolean
  /** Whether it leaves a shadow tree. Default: false. */
  composed?: boolean
  /** What the message holds. Default: null. */
  data?: unknown
  /** Where it came from. Default: empty. */
  origin?: string
  /** Default: empty. */
  lastEventId?: string
}

/** A message has come. */
export interface MessageEvent extends Event {
  /** A string, or a Blob or ArrayBuffer as the socket's `binaryType` says. */
  readonly data: AnyData
  /** Of the socket's URL. */
  readonly origin: string
  /** Always empty from a socket. */
  readonly lastEventId: string
  /** Always null. */
  readonly source: null
  /** Always empty. */
  readonly ports: readonly unknown[]
}

/** What a `CloseEvent` is made from. */
export interface CloseEventInit {
  /** Whether the event bubbles. Default: false. */
  bubbles?: boolean
  /** Whether its default can be prevented. Default: false. */
  cancelable?: boolean
  /** Whether it leaves a shadow tree. Default: false. */
  composed?: boolean
  /** Whether close frames went both ways. Default: false. */
  wasClean?: boolean
  /** The close code. Default: 0. */
  code?: number
  /** The reason. Default: empty. */
  reason?: string
}

/** The connection is closed. */
export interface CloseEvent extends Event {
  /** Close frames went both ways. */
  readonly wasClean: boolean
  /** What the server closed with; 1005 when it named none, 1006 when it did not say that it closes. */
  readonly code: number
  /** What the server said; may be empty. */
  readonly reason: string
}

/** What an `ErrorEvent` is made from. */
export interface ErrorEventInit {
  /** Whether the event bubbles. Default: false. */
  bubbles?: boolean
  /** Whether its default can be prevented. Default: false. */
  cancelable?: boolean
  /** Whether it leaves a shadow tree. Default: false. */
  composed?: boolean
  /** What went wrong. Default: empty. */
  message?: string
  /** Default: empty. */
  filename?: string
  /** Default: 0. */
  lineno?: number
  /** Default: 0. */
  colno?: number
  /** The error behind it. */
  error?: unknown
}

/** The connection failed. */
export interface ErrorEvent extends Event {
  /** What went wrong. */
  readonly message: string
  /** Always empty from a socket. */
  readonly filename: string
  /** Always 0 from a socket. */
  readonly lineno: number
  /** Always 0 from a socket. */
  readonly colno: number
  /** The error behind it. */
  readonly error: unknown
}

export type MessageEventConstructor = new (type: string, init?: MessageEventInit) => MessageEvent
export type CloseEventConstructor = new (type: string, init?: CloseEventInit) => CloseEvent
export type ErrorEventConstructor = new (type: string, init?: ErrorEventInit) => ErrorEvent

class SocketMessageEvent extends Event implements MessageEvent {
  readonly #data: unknown
  readonly #origin: string
  readonly #lastEventId: string
  #ports: readonly unknown[] | null = null

  constructor(type: string, init: MessageEventInit = {}) {
    super(type, init)
    const { data = null, origin = '', lastEventId = '' } = init
    this.#data = data
    this.#origin = String(origin)
    this.#lastEventId = String(lastEventId)
  }

  get data(): AnyData {
    return this.#data
  }

  get origin(): string {
    return this.#origin
  }

  get lastEventId(): string {
    return this.#lastEventId
  }

  get source(): null {
    return null
  }

  get ports(): readonly unknown[] {
    this.#ports ??= Object.freeze([])
    return this.#ports
  }

  get [Symbol.toStringTag](): string {
    return 'MessageEvent'
  }
}

class SocketCloseEvent extends Event implements CloseEvent {
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

class SocketErrorEvent extends Event implements ErrorEvent {
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

export const MessageEvent: MessageEventConstructor = SocketMessageEvent
export const CloseEvent: CloseEventConstructor = SocketCloseEvent
export const ErrorEvent: ErrorEventConstructor = SocketErrorEvent
