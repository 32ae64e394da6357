/**
 * The events of WebSocket and EventSource (HTML §9.1, WebSockets §6). The classes are our own: reading those
 * of the runtime makes it load its HTTP client, which then installs a dispatcher for the whole process, and
 * importing ventuno must not do that.
 */
import type { MessagePort } from 'node:worker_threads'
import { shownValue } from '../base/text/shown-value.ts'
import {
  illegalInvocation,
  requireArguments,
  toDictionary,
  toSequence,
  toText,
  toUnsigned,
  wellFormed,
} from './idl.ts'
import { defineAttributes, defineInterface } from './interface.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a message holds is up to the peer, as in the DOM's types
export type AnyData = any

/** The dictionary of all events. */
interface BaseEventInit {
  /** Whether the event bubbles. Default: false. */
  bubbles?: boolean
  /** Whether its default can be prevented. Default: false. */
  cancelable?: boolean
  /** Whether it leaves a shadow tree. Default: false. */
  composed?: boolean
}

/** The dictionary of `MessageEvent`. */
export interface MessageEventInit<T = AnyData> extends BaseEventInit {
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
export interface CloseEventInit extends BaseEventInit {
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
export interface ErrorEventInit extends BaseEventInit {
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

/** The arguments of an event's constructor. `init` has been read once `base` was, which comes first. */
interface EventArguments<T> {
  readonly type: string
  readonly init: T
  readonly base: Required<BaseEventInit>
}

function readArguments<T extends BaseEventInit>(
  type: unknown,
  init: T | null | undefined,
  count: number,
  where: string,
): EventArguments<T> {
  requireArguments(count, 1, where)
  const text = toText(type, where, 'type')
  const given = toDictionary(init, where) ?? ({} as T)
  const { bubbles, cancelable, composed } = given
  const base = { bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: Boolean(composed) }
  return { type: text, init: given, base }
}

type MessageFields = Pick<MessageEvent, 'data' | 'lastEventId' | 'origin' | 'ports' | 'source'>

/** Web IDL reads the members of a dictionary in the order of their names. */
function toMessageFields(init: MessageEventInit): MessageFields {
  const { data = null, lastEventId = '', origin = '', ports, source = null } = init
  return {
    data,
    lastEventId: toText(lastEventId, OF_MESSAGE, 'eventInitDict.lastEventId'),
    origin: wellFormed(toText(origin, OF_MESSAGE, 'eventInitDict.origin')),
    ports: ports === undefined ? NO_PORTS : toPorts(ports),
    source: source === null ? null : toPort(source, 'source'),
  }
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

/**
 * In place of a dictionary, by this module alone: the fields of a message that was received follow unchecked.
 */
const RECEIVED: MessageEventInit = {}

/** The event of a message that was received: the checks would cost more than the rest of it. */
export let receivedMessage: (type: string, data: unknown, origin: string, lastEventId: string) => MessageEvent

class SocketMessageEvent extends Event {
  #fields: MessageFields

  constructor(type: string, init: MessageEventInit = {}) {
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    const given = init === RECEIVED ? null : readArguments(type, init, arguments.length, OF_MESSAGE)
    super(given === null ? type : given.type, given?.base)
    this.#fields = given === null ? (null as never) : toMessageFields(given.init)
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
    const where = 'MessageEvent.initMessageEvent'
    if (!(#fields in Object(this))) throw illegalInvocation()
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    requireArguments(arguments.length, 1, where)
    const text = toText(type, where, 'type')
    const fields = toMessageFields({ data, lastEventId, origin, ports, source })
    // Like `initEvent`, it has no effect on an event that is being dispatched.
    if (this.eventPhase !== NOT_DISPATCHED) return
    this.initEvent(text, Boolean(bubbles), Boolean(cancelable))
    this.#fields = fields
  }

  static {
    receivedMessage = (type, data, origin, lastEventId) => {
      const event = new SocketMessageEvent(type, RECEIVED)
      event.#fields = { data, lastEventId, origin, ports: NO_PORTS, source: null }
      return event as unknown as MessageEvent
    }
    defineAttributes<MessageFields>(
      SocketMessageEvent.prototype,
      ['data', 'origin', 'lastEventId', 'source', 'ports'],
      (event) => (#fields in event ? event.#fields : null),
    )
    defineInterface(SocketMessageEvent, 'MessageEvent')
  }
}

/** An event that has nothing but attributes, which `read` makes of the dictionary. */
function eventClass<TInit extends BaseEventInit, T extends object>(
  name: string,
  attributes: readonly (keyof T & string)[],
  read: (init: TInit, where: string) => T,
): typeof Event {
  const where = `${name} constructor`
  const declared = class extends Event {
    readonly #fields: T

    constructor(type: string, init: TInit = {} as TInit) {
      // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
      const given = readArguments(type, init, arguments.length, where)
      super(given.type, given.base)
      this.#fields = read(given.init, where)
    }

    static {
      // biome-ignore lint/complexity/noThisInStatic: the class has no name here
      defineAttributes(this.prototype, attributes, (event) => (#fields in event ? event.#fields : null))
    }
  }
  defineInterface(declared, name)
  return declared as unknown as typeof Event
}

export const MessageEvent: MessageEventConstructor = SocketMessageEvent as unknown as MessageEventConstructor

export const CloseEvent: CloseEventConstructor = eventClass<CloseEventInit, Omit<CloseEvent, keyof Event>>(
  'CloseEvent',
  ['wasClean', 'code', 'reason'],
  ({ code = 0, reason = '', wasClean = false }, where) => ({
    code: toUnsigned(code, 16),
    reason: wellFormed(toText(reason, where, 'reason')),
    wasClean: Boolean(wasClean),
  }),
) as CloseEventConstructor

export const ErrorEvent: ErrorEventConstructor = eventClass<ErrorEventInit, Omit<ErrorEvent, keyof Event>>(
  'ErrorEvent',
  ['message', 'filename', 'lineno', 'colno', 'error'],
  ({ colno = 0, error, filename = '', lineno = 0, message = '' }, where) => ({
    colno: toUnsigned(colno, 32),
    error,
    filename: wellFormed(toText(filename, where, 'filename')),
    lineno: toUnsigned(lineno, 32),
    message: toText(message, where, 'message'),
  }),
) as ErrorEventConstructor
