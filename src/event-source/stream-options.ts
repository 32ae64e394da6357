/**
 * The options that `EventSource` and `events()` share, read and checked once: how an event stream is asked
 * for, and what follows when it ends.
 */
import { type AbortSource, isAbortSource } from '../base/abort/signal.ts'
import type { BodySource, HeadersSource } from '../fetch/declared-classes.ts'
import {
  type Check,
  finiteFrom,
  isAnything,
  isBoolean,
  isFunction,
  isString,
  oneOf,
  option,
  readOptions,
  setOption,
} from '../options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { toUnsigned } from '../web/idl.ts'
import type { StreamErrorEvent } from './stream-error-event.ts'

/** When a stream that has ended is asked for again: `on-error` leaves out one that ended normally. */
export type ReconnectMode = 'always' | 'on-error' | false

/** Header fields, or a function that is called for each attempt. */
export type StreamHeaders = HeadersSource | (() => HeadersSource | Promise<HeadersSource>)

/** How an event stream is asked for, and what follows when it ends. */
export interface EventStreamOptions {
  /** Sends the requests, and its `eventSourceOptions` limit what is received. Default: the global one. */
  dispatcher?: Dispatching | null | undefined
  /** Default: GET. */
  method?: string | undefined
  /** With a body that can be sent only once, the stream is not asked for again. */
  body?: BodySource | null | undefined
  /** Sent with each attempt; a function is called for each. */
  headers?: StreamHeaders | undefined
  /** Ends it, like `close()`. */
  signal?: AbortSignal | AbortSource | null | undefined
  /** The id of the event to resume after. Default: empty. */
  lastEventId?: string | undefined
  /** Milliseconds before the stream is asked for again, until the server sets another time. Default: 3000. */
  reconnectionTime?: number | undefined
  /** Wait longer after each attempt without an event, for a random time. Default: false. */
  backoff?: boolean | undefined
  /** The longest wait with `backoff`, in milliseconds. Default: 30 000. */
  maxReconnectionTime?: number | undefined
  /** Attempts in a row without an event before giving up. Default: Infinity. */
  maxRetries?: number | undefined
  /** Statuses after which the stream is asked for again, not before their `retry-after`. Default: none. */
  retryStatus?: readonly number[] | undefined
  /** Called when the stream would be asked for again; false prevents it. May return a promise. */
  shouldReconnect?: ((event: StreamErrorEvent) => boolean | Promise<boolean>) | undefined
  /** Whether a stream that has ended is asked for again. */
  reconnect?: ReconnectMode | undefined
  /**
   * Milliseconds without a byte after which the stream counts as lost; 0 for no limit. Replaces
   * `bodyTimeout`.
   */
  idleTimeout?: number | undefined
}

type Given = { readonly [N in keyof EventStreamOptions]-?: Exclude<EventStreamOptions[N], undefined> }

/** All options, checked and filled in. */
export interface StreamPlan extends Omit<Given, 'method' | 'headers' | 'retryStatus' | 'shouldReconnect'> {
  readonly method: string | undefined
  readonly headers: StreamHeaders | undefined
  readonly retryStatus: ReadonlySet<number>
  readonly shouldReconnect: ((event: StreamErrorEvent) => unknown) | null
}

const isCount: Check = (value) => value === Infinity || (Number.isInteger(value) && (value as number) >= 0)
const isDispatcher: Check = (value) => isFunction((value as Partial<Dispatching>).dispatch)

const OPTIONS = {
  signal: option<AbortSource | null>(null, isAbortSource, 'signal must be an EventEmitter or EventTarget'),
  dispatcher: option<Dispatching | null>(null, isDispatcher),
  method: option<string | undefined>(undefined, isAnything),
  body: option<BodySource | null>(null, isAnything),
  headers: option<StreamHeaders | undefined>(undefined, isAnything),
  lastEventId: option('', isString),
  reconnectionTime: option(3000, isAnything, undefined, (value) => toUnsigned(value, 32)),
  backoff: option(false, isBoolean),
  maxReconnectionTime: option(30_000, finiteFrom(0)),
  maxRetries: option(Infinity, isCount),
  retryStatus: setOption<number>([], Number.isInteger),
  shouldReconnect: option<StreamPlan['shouldReconnect']>(null, isFunction),
  reconnect: option<ReconnectMode | null>(null, oneOf('always', 'on-error', false)),
  idleTimeout: option(0, finiteFrom(0)),
}

/** @throws {InvalidArgumentError} `reconnect` is the default of that option. */
export function readStreamOptions(options: EventStreamOptions, reconnect: ReconnectMode): StreamPlan {
  const read = readOptions(OPTIONS, options)
  return { ...read, reconnect: read.reconnect ?? reconnect }
}
