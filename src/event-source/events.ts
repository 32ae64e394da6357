/**
 * `events()`: an event stream as an async iterator. Nothing is read while the consumer is busy, so that the
 * server is slowed down instead of memory filling up.
 */

import { abortedReason } from '../base/abort/signal.ts'
import { getGlobalOrigin } from '../base/address/global-origin.ts'
import { parseUrl, shownUrl } from '../base/address/parse-url.ts'
import { RingQueue } from '../base/collection/ring-queue.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { ownMembers } from '../base/object/own-options.ts'
import type { RequestSettings } from '../fetch/declared-classes.ts'
import { defineAsyncDispose } from '../web/interface.ts'
import { EventFeed } from './event-feed.ts'
import type { ServerComment, ServerEvent, StreamItem } from './server-event.ts'
import { type EventStreamOptions, readStreamOptions, type StreamPlan } from './stream-options.ts'

/** Options of `events()`: those of `fetch`, and those for event streams. */
export interface EventsInit extends EventStreamOptions, Omit<RequestSettings, keyof EventStreamOptions> {
  /** Give comments, too. Default: false. */
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

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * Asks for an event stream when the first event is asked for, and for the rest of it when it is lost. Leaving
 * the loop closes the HTTP/1.1 connection, or resets the HTTP/2 stream.
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
  return new Events(readUrl(url), fetchInit(options), plan, Boolean(options.comments))
}

/** The options that only concern `fetch`. */
function fetchInit(options: EventsInit): RequestSettings {
  const init: RequestSettings = { ...(options as RequestSettings) }
  // Read by the plan; the signal ends all attempts, not one request.
  for (const name of ['method', 'body', 'headers', 'signal', 'dispatcher'] as const) delete init[name]
  return init
}

function readUrl(url: string | URL): URL {
  try {
    return parseUrl(url, getGlobalOrigin())
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${shownUrl(url)}`, { cause })
  }
}

class Events implements EventIterator<StreamItem> {
  readonly #plan: StreamPlan
  readonly #feed: EventFeed
  /** Of the chunk that was read last. */
  readonly #items = new RingQueue<StreamItem>()
  /** The last call of `next()` that had to wait; null if none does. */
  #waiting: Promise<unknown> | null = null
  #isDone = false

  constructor(url: URL, init: RequestSettings, plan: StreamPlan, comments: boolean) {
    const items = this.#items
    this.#plan = plan
    const observer = {
      onOpen() {},
      onEvent: (event: string, data: string, id: string) => items.push({ event, data, id }),
      onEnd() {},
    }
    const onComment = (comment: string): void => items.push({ comment })
    // The consumer waits for the next attempt, so the wait keeps the process running.
    this.#feed = new EventFeed(url, init, plan, comments ? { ...observer, onComment } : observer, true)
  }

  next(): Promise<IteratorResult<StreamItem, undefined>> {
    if (this.#waiting === null) {
      const item = this.#take()
      if (item !== null) return Promise.resolve({ done: false, value: item })
    }
    // Calls are answered in their order.
    const result = (this.#waiting ?? Promise.resolve()).then(() => this.#read())
    const waiting = result.catch(ignoreError).then(() => {
      if (this.#waiting === waiting) this.#waiting = null
    })
    this.#waiting = waiting
    return result
  }

  async #read(): Promise<IteratorResult<StreamItem, undefined>> {
    for (;;) {
      const item = this.#take()
      if (item !== null) return { done: false, value: item }
      if (this.#isDone) return DONE
      if (await this.#feed.advance()) continue
      // What came before the end is given first.
      if (this.#items.size > 0 && !this.#isAborted) continue
      if (this.#isDone) return DONE
      this.#isDone = true
      const { error } = this.#feed
      if (error !== null) throw error.value
    }
  }

  return(): Promise<IteratorResult<StreamItem, undefined>> {
    this.#close()
    return Promise.resolve(DONE)
  }

  throw(error?: unknown): Promise<IteratorResult<StreamItem, undefined>> {
    this.#close()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** What was read before an abort is not given after it. */
  get #isAborted(): boolean {
    const { signal } = this.#plan
    return signal !== null && abortedReason(signal) !== null
  }

  #take(): StreamItem | null {
    return this.#isDone || this.#isAborted ? null : this.#items.shift()
  }

  #close(): void {
    this.#isDone = true
    this.#feed.close()
  }

  static {
    defineAsyncDispose(Events.prototype, async function () {
      this.#close()
    })
  }
}
