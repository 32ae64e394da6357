/**
 * The options that `EventSource` and `events()` share, read and checked once: how an event stream is asked for, and
 * what follows when it ends.
 */
import { type AbortSource, isAbortSource } from '../base/signal.ts'
import { type Check, finiteFrom, isBoolean, isString, OptionReader } from '../dispatcher/option-reader.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { BodySource, HeadersSource } from '../fetch/declared-classes.ts'
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
  /** Milliseconds without a byte after which the stream counts as lost; 0 for no limit. Replaces `bodyTimeout`. */
  idleTimeout?: number | undefined
}

/** When and how often to ask again. */
export interface ReconnectPlan {
  readonly reconnectionTime: number
  readonly backoff: boolean
  readonly maxReconnectionTime: number
  readonly maxRetries: number
  readonly retryStatus: ReadonlySet<number>
  readonly reconnect: ReconnectMode
}

/** All options, checked and filled in. */
export interface StreamPlan extends ReconnectPlan {
  readonly dispatcher: Dispatching | null
  readonly method: string | undefined
  readonly body: BodySource | null
  readonly headers: StreamHeaders | undefined
  readonly signal: AbortSource | null
  readonly lastEventId: string
  readonly shouldReconnect: ((event: StreamErrorEvent) => unknown) | null
  readonly idleTimeout: number
}

const DEFAULT_TIME = 3000
const DEFAULT_LONGEST_TIME = 30_000

const isFunction: Check = (value) => typeof value === 'function'
const isCount: Check = (value) => value === Infinity || (Number.isInteger(value) && (value as number) >= 0)
const isReconnectMode: Check = (value) => value === 'always' || value === 'on-error' || value === false
const isDispatcher: Check = (value) => typeof (value as Partial<Dispatching>).dispatch === 'function'
const isStatusList: Check = (value) => Array.isArray(value) && value.every(Number.isInteger)

/** @throws {InvalidArgumentError} `reconnect` is the default of that option. */
export function readStreamOptions(options: EventStreamOptions, reconnect: ReconnectMode): StreamPlan {
  const from = new OptionReader<keyof EventStreamOptions>(options)
  const read = <T>(name: keyof EventStreamOptions, fallback: T, check: Check): T =>
    from.read(name, fallback, check, `invalid ${name}`)
  const signal = from.raw('signal') ?? null
  if (signal !== null && !isAbortSource(signal)) {
    throw new InvalidArgumentError('signal must be an EventEmitter or EventTarget')
  }
  return {
    dispatcher: read<Dispatching | null>('dispatcher', null, isDispatcher),
    method: from.raw('method') as string | undefined,
    body: (from.raw('body') ?? null) as BodySource | null,
    headers: from.raw('headers') as StreamHeaders | undefined,
    signal,
    lastEventId: read('lastEventId', '', isString),
    reconnectionTime: toUnsigned(from.raw('reconnectionTime') ?? DEFAULT_TIME, 32),
    backoff: read('backoff', false, isBoolean),
    maxReconnectionTime: read('maxReconnectionTime', DEFAULT_LONGEST_TIME, finiteFrom(0)),
    maxRetries: read('maxRetries', Infinity, isCount),
    retryStatus: new Set(read<readonly number[]>('retryStatus', [], isStatusList)),
    shouldReconnect: read<StreamPlan['shouldReconnect']>('shouldReconnect', null, isFunction),
    reconnect: read('reconnect', reconnect, isReconnectMode),
    idleTimeout: read('idleTimeout', 0, finiteFrom(0)),
  }
}
