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
import { defineAttributes, defineInterface, defineMembers } from './interface.ts'

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
  /** Changes the attributes of an event that is not being dispatched. */
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
export interface EventConstructor<TEvent, TInit> {
  readonly prototype: TEvent
  new (type: string, init?: TInit): TEvent
}

/** `Event.NONE`. */
const NOT_DISPATCHED = 0

/** Named in errors about the members of a message, also by `initMessageEvent`. */
const OF_MESSAGE = 'MessageEvent constructor'

/** Frozen, and therefore shared by all events without ports. */
const NO_PORTS: readonly MessagePort[] = Object.freeze([])

/** For the runtime, which accepts fewer objects as a dictionary than Web IDL does. */
function baseOf({ bubbles, cancelable, composed }: BaseEventInit): Required<BaseEventInit> {
  return { bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: Boolean(composed) }
}

type OwnFields<TEvent> = Omit<TEvent, keyof Event>
type MessageFields = OwnFields<Omit<MessageEvent, 'initMessageEvent'>>

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

/** Passed in place of a dictionary, by this module alone: the attributes are set afterwards, unchecked. */
const UNCHECKED: BaseEventInit = {}

interface EventClass<T> {
  readonly declared: unknown
  /** The attributes. Throws for an object of another class. */
  fieldsOf(object: object): T
  /** An event with these attributes, which are not checked. */
  make(type: string, fields: T): Event
}

/** Declares an event class with these attributes; `read` converts the dictionary. */
function eventClass<TInit extends BaseEventInit, T extends object>(
  name: string,
  attributes: readonly (keyof T & string)[],
  read: (init: TInit, where: string) => T,
): EventClass<T> {
  const where = `${name} constructor`
  let fieldsOf!: EventClass<T>['fieldsOf']
  let make!: EventClass<T>['make']
  const declared = class extends Event {
    #fields: T

    constructor(type: string, init: TInit = {} as TInit) {
      const isChecked = init !== UNCHECKED
      // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
      if (isChecked) requireArguments(arguments.length, 1, where)
      const text = isChecked ? toText(type, where, 'type') : type
      const given = isChecked ? (toDictionary(init, where) ?? ({} as TInit)) : init
      super(text, isChecked ? baseOf(given) : undefined)
      this.#fields = isChecked ? read(given, where) : (null as never)
    }

    static {
      fieldsOf = (object) => {
        if (#fields in Object(object)) return (object as typeof declared.prototype).#fields
        throw illegalInvocation()
      }
      make = (type, fields) => {
        const event = new declared(type, UNCHECKED as TInit)
        event.#fields = fields
        return event
      }
    }
  }
  defineAttributes(declared.prototype, attributes, fieldsOf)
  defineInterface(declared, name)
  return { declared, fieldsOf, make }
}

const message = eventClass<MessageEventInit, MessageFields>(
  'MessageEvent',
  ['data', 'origin', 'lastEventId', 'source', 'ports'],
  toMessageFields,
)

export const MessageEvent: MessageEventConstructor = message.declared as MessageEventConstructor

type OptionalArguments = Parameters<MessageEvent['initMessageEvent']> extends [string, ...infer T] ? T : never

defineMembers(MessageEvent.prototype, {
  initMessageEvent(this: MessageEvent, type: string, ...optional: OptionalArguments): void {
    const [bubbles, cancelable, data, origin, lastEventId, source, ports] = optional
    const where = 'MessageEvent.initMessageEvent'
    const fields = message.fieldsOf(this)
    // biome-ignore lint/complexity/noArguments: their number shows whether one was omitted
    requireArguments(arguments.length, 1, where)
    const text = toText(type, where, 'type')
    const given = toMessageFields({ data, lastEventId, origin, ports, source } as MessageEventInit)
    // Like `initEvent`, it has no effect on an event that is being dispatched.
    if (this.eventPhase !== NOT_DISPATCHED) return
    this.initEvent(text, Boolean(bubbles), Boolean(cancelable))
    Object.assign(fields, given)
  },
})

/** The event of a received message. It skips the checks, which would take most of the time. */
export function receivedMessage(
  type: string,
  data: unknown,
  origin: string,
  lastEventId: string,
): MessageEvent {
  return message.make(type, { data, lastEventId, origin, ports: NO_PORTS, source: null }) as MessageEvent
}

export const CloseEvent = eventClass<CloseEventInit, OwnFields<CloseEvent>>(
  'CloseEvent',
  ['wasClean', 'code', 'reason'],
  ({ code = 0, reason = '', wasClean = false }, where) => ({
    code: toUnsigned(code, 16),
    reason: wellFormed(toText(reason, where, 'reason')),
    wasClean: Boolean(wasClean),
  }),
).declared as EventConstructor<CloseEvent, CloseEventInit>

export const ErrorEvent = eventClass<ErrorEventInit, OwnFields<ErrorEvent>>(
  'ErrorEvent',
  ['message', 'filename', 'lineno', 'colno', 'error'],
  ({ colno = 0, error, filename = '', lineno = 0, message = '' }, where) => ({
    colno: toUnsigned(colno, 32),
    error,
    filename: wellFormed(toText(filename, where, 'filename')),
    lineno: toUnsigned(lineno, 32),
    message: toText(message, where, 'message'),
  }),
).declared as EventConstructor<ErrorEvent, ErrorEventInit>
