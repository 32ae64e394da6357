/**
 * `events()`: an event stream as an async iterator. Nothing is read while the consumer is busy, so that the
 * server is slowed down instead of memory filling up.
 */

import { type AbortSource, abortedReason } from '../base/abort/signal.ts'
import { RingQueue } from '../base/collection/ring-queue.ts'
import { ownMembers } from '../base/object/own-options.ts'
import type { RequestSettings } from '../fetch/declared-classes.ts'
import { partsOf } from '../fetch/url/url-parts.ts'
import { EventFeed, type FeedObserver } from './event-feed.ts'
import type { ServerComment, ServerEvent, StreamItem } from './server-event.ts'
import { type EventStreamOptions, readStreamOptions, type StreamPlan } from './stream-options.ts'
import { StreamRequest } from './stream-request.ts'

/** Options of `events()`: those of `fetch`, and those for event streams. */
export interface EventsInit extends EventStreamOptions, Omit<RequestSettings, keyof EventStreamOptions> {
  /** Yield comments, too. Default: false. */
  comments?: boolean | undefined
}

/** The events of a stream, for one loop. */
export interface EventIterator<T> extends AsyncIterableIterator<T, undefined, void> {
  /** Waits for the next event. */
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends the stream. */
  return(): Promise<IteratorResult<T, undefined>>
  /** Ends the stream, and rejects with the error. */
  throw(error?: unknown): Promise<IteratorResult<T, undefined>>
  /** Returns this iterator itself. */
  [Symbol.asyncIterator](): EventIterator<T>
}

/**
 * Requests an event stream at the first call of `next()`, and again if the stream is lost. Leaving the loop
 * closes the HTTP/1.1 connection, or resets the HTTP/2 stream.
 *
 * @example
 * for await (const { data } of events(url, { method: 'POST', body: prompt })) console.log(data)
 */
export function events(
  url: string | URL,
  init: EventsInit & { comments: true },
): EventIterator<ServerEvent | ServerComment>
export function events(url: string | URL, init?: EventsInit | null): EventIterator<ServerEvent>
export function events(url: string | URL, init: EventsInit | null = null): EventIterator<StreamItem> {
  const options: EventsInit = Object.assign(Object.create(null), ownMembers(init))
  const plan = readStreamOptions(options, 'on-error')
  return new Events(partsOf(String(url)).url, fetchInit(options, plan), plan, Boolean(options.comments))
}

/** The options that only concern `fetch`. */
function fetchInit(options: EventsInit, plan: StreamPlan): RequestSettings {
  // The signal ends all attempts, not one request.
  return Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(plan, name)))
}

class Events implements EventIterator<StreamItem> {
  readonly #feed: EventFeed
  /** The items of the chunk that was read last. */
  readonly #received = new RingQueue<StreamItem>()
  readonly #items: AsyncGenerator<StreamItem, undefined, void>

  constructor(url: URL, init: RequestSettings, plan: StreamPlan, comments: boolean) {
    const received = this.#received
    const observer: FeedObserver = {
      onOpen() {},
      onEvent: (event, data, id) => received.push({ event, data, id }),
      onEnd() {},
    }
    if (comments) observer.onComment = (comment) => received.push({ comment })
    // The consumer waits for the next attempt, so the wait keeps the process running.
    this.#feed = new EventFeed(new StreamRequest(url, init, plan), plan, observer, true)
    this.#items = this.#take(plan.signal)
  }

  next(): Promise<IteratorResult<StreamItem, undefined>> {
    return this.#items.next()
  }

  return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#close()
    return this.#items.return(undefined)
  }

  throw(error?: unknown): Promise<IteratorResult<StreamItem, undefined>> {
    this.#close()
    return this.#items.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }

  async *#take(signal: AbortSource | null): AsyncGenerator<StreamItem, undefined, void> {
    const received = this.#received
    // What was read before an abort is not yielded after it.
    const isAborted = (): boolean => signal !== null && abortedReason(signal) !== null
    do {
      for (let item = received.shift(); item !== null && !isAborted(); item = received.shift()) yield item
      // What came before the end is yielded first.
    } while ((await this.#feed.advance()) || (received.size > 0 && !isAborted()))
    if (this.#feed.error !== null) throw this.#feed.error.value
  }

  /** Also ends a pending `next()`. */
  #close(): void {
    while (this.#received.shift() !== null);
    this.#feed.close()
  }
}
