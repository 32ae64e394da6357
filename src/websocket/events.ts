/**
 * The events of a WebSocket (HTML §9.1, WebSockets §6). The classes are our own: reading those of the runtime
 * makes it load its HTTP client, which then installs a dispatcher for the whole process, and importing
 * ventuno must not do that.
 */

import type { MessagePort } from 'node:worker_threads'
import { defineKind, isInstance } from '../base/kind.ts'
import { shownValue } from '../base/shown-value.ts'
import {
  defineInterface,
  illegalInvocation,
  requireType,
  toBaseInit,
  toDictionary,
  toDomString,
  toSequence,
  toUnsigned,
  toUsvString,
} from './web-idl.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a message holds is up to the peer, as in the DOM's types
export type AnyData = any

/** The dictionary of `MessageEvent`. */
export interface MessageEventInit<T = AnyData> {
  /** Whether the event bubbles. Default: false. */
  bubbles?: boolean
  /** Whether its default can be prevented. Default: false. */
  cancelable?: boolean
  /** Whether it leaves a shadow tree. Default: false. */
  composed?: boolean
  /** The content of the message. Default: null. */
  data?: T
  /** Where it came from. Default: empty. */
  origin?: string
  /** Default: empty. */
  lastEventId?: string
  /** Who sent it. Default: null. */
  source?: MessagePort | null
  /** Ports that came with it. Default: none. */
  ports?: MessagePort[]
}

/** A message has arrived. */
export interface MessageEvent<T = AnyData> extends Event {
  /** A string, or a Blob or ArrayBuffer, depending on the socket's `binaryType`. */
  readonly data: T
  /** Of the socket's URL. */
  readonly origin: string
  /** Always empty from a socket. */
  readonly lastEventId: string
  /** Always null from a socket. */
  readonly source: MessagePort | null
  /** Always empty from a socket; frozen. */
  readonly ports: readonly MessagePort[]
  /** Makes another message of an event that is not being dispatched. */
  initMessageEvent(
    type: string,
    bubbles?: boolean,
    cancelable?: boolean,
    data?: unknown,
    origin?: string,
    lastEventId?: string,
    source?: MessagePort | null,
    ports?: MessagePort[],
  ): void
}

/** The dictionary of `CloseEvent`. */
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
  /** The code of the server; 1005 if its close frame had none, 1006 without a close frame. */
  readonly code: number
  /** The reason of the server; may be empty. */
  readonly reason: string
}

/** The dictionary of `ErrorEvent`. */
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
  /** The cause. */
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
  /** The cause. */
  readonly error: AnyData
}

export interface MessageEventConstructor {
  readonly prototype: MessageEvent
  new <T>(type: string, init?: MessageEventInit<T>): MessageEvent<T>
}
export interface CloseEventConstructor {
  readonly prototype: CloseEvent
  new (type: string, init?: CloseEventInit): CloseEvent
}
export interface ErrorEventConstructor {
  readonly prototype: ErrorEvent
  new (type: string, init?: ErrorEventInit): ErrorEvent
}

/** `Event.NONE`. */
const NOT_DISPATCHED = 0

/** Where the members of a message are converted; also those that `initMessageEvent` gets. */
const OF_MESSAGE = 'MessageEvent constructor'

/** Frozen, and therefore shared by all events without ports. */
const NO_PORTS: readonly MessagePort[] = Object.freeze([])

/** Not exported, so that none but this module makes them: an event takes them unchecked. */
class MessageFields {
  readonly data: unknown
  readonly lastEventId: string
  readonly origin: string
  readonly ports: readonly MessagePort[]
  readonly source: MessagePort | null

  constructor(
    data: unknown,
    lastEventId: string,
    origin: string,
    ports: readonly MessagePort[],
    source: MessagePort | null,
  ) {
    this.data = data
    this.lastEventId = lastEventId
    this.origin = origin
    this.ports = ports
    this.source = source
  }
}

/** Web IDL reads the members of a dictionary in the order of their names. */
function toMessageFields(init: MessageEventInit): MessageFields {
  const { data = null, lastEventId = '', origin = '', ports, source = null } = init
  return new MessageFields(
    data,
    toDomString(lastEventId, `${OF_MESSAGE}: eventInitDict.lastEventId`),
    toUsvString(origin, `${OF_MESSAGE}: eventInitDict.origin`),
    ports === undefined ? NO_PORTS : toPorts(ports),
    source === null ? null : toPort(source, 'source'),
  )
}

function toPorts(given: unknown): readonly MessagePort[] {
  const ports = toSequence(given, `${OF_MESSAGE}: eventInitDict.ports`)
  return Object.freeze(Array.from(ports, (port, i) => toPort(port, `ports[${i}]`)))
}

function toPort(given: unknown, member: string): MessagePort {
  if (given instanceof globalThis.MessagePort) return given as unknown as MessagePort
  const shown = shownValue(given)
  throw new TypeError(
    `${OF_MESSAGE}: Expected eventInitDict.${member} ("${shown}") to be an instance of MessagePort.`,
  )
}

class SocketMessageEvent extends Event implements MessageEvent {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, and get the ordinary check
    return isInstance(this, value)
  }

  #fields: MessageFields

  constructor(type: string, init: MessageEventInit | MessageFields = {}) {
    // The fields of a message that was received: their checks would cost more than the rest of the event.
    const fields = init instanceof MessageFields ? init : null
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    const text = fields === null ? requireType(type, arguments.length, OF_MESSAGE) : type
    const dictionary = fields === null ? toDictionary(init as MessageEventInit, OF_MESSAGE) : null
    super(text, dictionary === null ? undefined : toBaseInit(dictionary))
    this.#fields = fields ?? toMessageFields(dictionary!)
  }

  /** Getters can be called on any object. */
  static #of(event: object): MessageFields {
    if (#fields in event) return event.#fields
    throw illegalInvocation()
  }

  get data(): AnyData {
    return SocketMessageEvent.#of(this).data
  }

  get origin(): string {
    return SocketMessageEvent.#of(this).origin
  }

  get lastEventId(): string {
    return SocketMessageEvent.#of(this).lastEventId
  }

  get source(): MessagePort | null {
    return SocketMessageEvent.#of(this).source
  }

  get ports(): readonly MessagePort[] {
    return SocketMessageEvent.#of(this).ports
  }

  initMessageEvent(
    type: string,
    bubbles = false,
    cancelable = false,
    data: unknown = null,
    origin = '',
    lastEventId = '',
    source: MessagePort | null = null,
    ports: MessagePort[] = [],
  ): void {
    SocketMessageEvent.#of(this)
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    const text = requireType(type, arguments.length, 'MessageEvent.initMessageEvent')
    const fields = toMessageFields({ data, lastEventId, origin, ports, source })
    // Like `initEvent`, it has no effect on an event that is being dispatched.
    if (this.eventPhase !== NOT_DISPATCHED) return
    this.initEvent(text, Boolean(bubbles), Boolean(cancelable))
    this.#fields = fields
  }

  static {
    defineInterface(SocketMessageEvent, 'MessageEvent')
  }
}

/** The event of a message that was received. */
export function receivedMessage(
  type: string,
  data: unknown,
  origin: string,
  lastEventId: string,
): MessageEvent {
  return new SocketMessageEvent(type, new MessageFields(data, lastEventId, origin, NO_PORTS, null))
}

interface CloseFields {
  readonly code: number
  readonly reason: string
  readonly wasClean: boolean
}

class SocketCloseEvent extends Event implements CloseEvent {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, and get the ordinary check
    return isInstance(this, value)
  }

  readonly #fields: CloseFields

  constructor(type: string, init: CloseEventInit = {}) {
    const where = 'CloseEvent constructor'
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    const text = requireType(type, arguments.length, where)
    const dictionary = toDictionary(init, where)
    super(text, toBaseInit(dictionary))
    const { code = 0, reason = '', wasClean = false } = dictionary
    this.#fields = {
      code: toUnsigned(code, 16),
      reason: toUsvString(reason, `${where}: reason`),
      wasClean: Boolean(wasClean),
    }
  }

  static #of(event: object): CloseFields {
    if (#fields in event) return event.#fields
    throw illegalInvocation()
  }

  get wasClean(): boolean {
    return SocketCloseEvent.#of(this).wasClean
  }

  get code(): number {
    return SocketCloseEvent.#of(this).code
  }

  get reason(): string {
    return SocketCloseEvent.#of(this).reason
  }

  static {
    defineInterface(SocketCloseEvent, 'CloseEvent')
  }
}

interface ErrorFields {
  readonly colno: number
  readonly error: unknown
  readonly filename: string
  readonly lineno: number
  readonly message: string
}

class SocketErrorEvent extends Event implements ErrorEvent {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, and get the ordinary check
    return isInstance(this, value)
  }

  readonly #fields: ErrorFields

  constructor(type: string, init: ErrorEventInit = {}) {
    const where = 'ErrorEvent constructor'
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    const text = requireType(type, arguments.length, where)
    const dictionary = toDictionary(init, where)
    super(text, toBaseInit(dictionary))
    const { colno = 0, error, filename = '', lineno = 0, message = '' } = dictionary
    this.#fields = {
      colno: toUnsigned(colno, 32),
      error,
      filename: toUsvString(filename, `${where}: filename`),
      lineno: toUnsigned(lineno, 32),
      message: toDomString(message, `${where}: message`),
    }
  }

  static #of(event: object): ErrorFields {
    if (#fields in event) return event.#fields
    throw illegalInvocation()
  }

  get message(): string {
    return SocketErrorEvent.#of(this).message
  }

  get filename(): string {
    return SocketErrorEvent.#of(this).filename
  }

  get lineno(): number {
    return SocketErrorEvent.#of(this).lineno
  }

  get colno(): number {
    return SocketErrorEvent.#of(this).colno
  }

  get error(): unknown {
    return SocketErrorEvent.#of(this).error
  }

  static {
    defineInterface(SocketErrorEvent, 'ErrorEvent')
  }
}

export const MessageEvent: MessageEventConstructor = SocketMessageEvent
export const CloseEvent: CloseEventConstructor = SocketCloseEvent
export const ErrorEvent: ErrorEventConstructor = SocketErrorEvent

defineKind(MessageEvent, 'ventuno.MessageEvent')
defineKind(CloseEvent, 'ventuno.CloseEvent')
defineKind(ErrorEvent, 'ventuno.ErrorEvent')
