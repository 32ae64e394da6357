/**
 * The class `EventSource` as programs see it. It has no private fields, so that the compiler accepts an
 * `EventSource` of the runtime or of undici in its place. The implementation is checked against it.
 */
import type { Dispatching } from '../request/dispatching.ts'
import type { ErrorEvent, MessageEvent } from '../web/events.ts'
import type { StreamErrorEvent } from './stream-error-event.ts'
import type { EventStreamOptions } from './stream-options.ts'

/** The options of an `EventSource` that browsers do not have. */
export interface EventSourceNodeOptions extends EventStreamOptions {
  /** Called with each event that the server sends, whatever its name. */
  onEvent?: ((event: MessageEvent) => void) | undefined
}

/** Options of `EventSource`. */
export interface EventSourceInit {
  /** As in browsers; visible only in the property of the same name. Default: false. */
  withCredentials?: boolean | undefined
  /** Deprecated in favour of `node.dispatcher`, which wins. */
  dispatcher?: Dispatching | null | undefined
  /** Options that browsers do not have. */
  node?: EventSourceNodeOptions | null | undefined
}

/** The events of an `EventSource`, in addition to those that the server names. */
export interface EventSourceEventMap {
  /** The stream is open. */
  open: Event
  /** An event without a name. */
  message: MessageEvent
  /** The stream, or the attempt to get it, has ended. */
  error: StreamErrorEvent
}

export type EventName = keyof EventSourceEventMap
/** The value of `onopen` and its siblings. */
export type Handler<E> = ((this: EventSource, event: E) => unknown) | null
type ListenerOptions = Parameters<EventTarget['addEventListener']>[2]
type EventOf<K> = K extends EventName ? EventSourceEventMap[K] : MessageEvent
type Listener<K> = Handler<EventOf<K>> | { handleEvent(event: EventOf<K>): unknown }

/** Receives the events of a server, and asks for them again when the stream ends. */
export declare class EventSource extends EventTarget {
  /** `readyState` while there is no stream, but there will be. */
  static readonly CONNECTING: 0
  /** `readyState` while events arrive. */
  static readonly OPEN: 1
  /** `readyState` when no more events will come. */
  static readonly CLOSED: 2
  readonly CONNECTING: 0
  readonly OPEN: 1
  readonly CLOSED: 2
  /**
   * Connects. The first event can come once the caller's code has run.
   *
   * @param url Absolute, or relative to the global origin.
   * @throws {DOMException} `SyntaxError` for a bad URL.
   */
  constructor(url: string | URL, init?: EventSourceInit | null)
  /** The parsed URL of the events. */
  get url(): string
  /** `CONNECTING`, `OPEN` or `CLOSED`. */
  get readyState(): 0 | 1 | 2
  /** The value given in the options. */
  get withCredentials(): boolean
  /**
   * The id of the last event that had one: the server resumes after it. Other implementations do not have it.
   */
  readonly lastEventId?: string
  /** Called when the stream is open. */
  get onopen(): Handler<Event>
  set onopen(handler: Handler<Event>)
  /** Called for each event without a name. */
  get onmessage(): Handler<MessageEvent>
  set onmessage(handler: Handler<MessageEvent>)
  /** Called when the stream, or the attempt to get it, has ended. */
  get onerror(): Handler<ErrorEvent & Partial<StreamErrorEvent>>
  set onerror(handler: Handler<StreamErrorEvent>)
  /** Ends it. No event follows. */
  close(): void
  /** The listeners of its own events get them with their types. */
  addEventListener<K extends EventName>(type: K, listener: Listener<K>, options?: ListenerOptions): void
  addEventListener(type: string, listener: Listener<string>, options?: ListenerOptions): void
  removeEventListener<K extends EventName>(type: K, listener: Listener<K>, options?: ListenerOptions): void
  removeEventListener(type: string, listener: Listener<string>, options?: ListenerOptions): void
}
