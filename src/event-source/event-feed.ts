/**
 * An event stream over all its attempts: connecting → open → waiting → connecting …, until it is over. It
 * does one step at a time, and only when `advance()` is called, so that its owner decides how fast events
 * arrive.
 */

import { orAbortError } from '../base/abort/abort-error.ts'
import { AbortLink } from '../base/abort/abort-link.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../base/loop/timer.ts'
import { DEFAULT_MAX_EVENT_SIZE } from '../dispatcher/event-source-options.ts'
import { ResponseExceededMaxSizeError } from '../errors.ts'
import type { Response } from '../fetch/response.ts'
import { getGlobalDispatcher } from '../global/global-dispatcher.ts'
import { eventLimits } from '../protocol/event-stream/limits.ts'
import { type EventSink, EventStreamParser } from '../protocol/event-stream/parser.ts'
import { OpenStream } from './open-stream.ts'
import { Reconnection, type StreamEnd } from './reconnection.ts'
import { explain, objectionTo, retryAfterOf } from './refused-response.ts'
import { type StreamErrorEvent, streamErrorEvent } from './stream-error-event.ts'
import type { StreamPlan } from './stream-options.ts'
import type { StreamRequest } from './stream-request.ts'

export interface FeedObserver {
  onOpen(response: Response): void
  onEvent(type: string, data: string, lastEventId: string): void
  onComment?: (text: string) => void
  /** The stream, or the attempt to get it, has ended. */
  onEnd(event: StreamErrorEvent): void
}

type State =
  | { readonly at: 'connecting' }
  | { readonly at: 'open'; readonly stream: OpenStream }
  | { readonly at: 'waiting'; readonly over: Promise<void> }
  | Over

/** `error` is wrapped, because it may be any value; null after `close()` or a normal end. */
interface Over {
  readonly at: 'over'
  readonly error: { readonly value: unknown } | null
}

const CONNECTING: State = { at: 'connecting' }

export class EventFeed {
  readonly #plan: StreamPlan
  readonly #request: StreamRequest
  readonly #observer: FeedObserver
  readonly #reconnection: Reconnection
  #state: State = CONNECTING
  #lastEventId: string
  /** Ends the attempt that is under way. */
  #attempt: AbortController | null = null
  /** Ends the wait for the next attempt, or for the decision about it. */
  #wake: (() => void) | null = null
  #timer: NodeJS.Timeout | null = null
  /** Whether the wait keeps the process running. */
  #isReferenced: boolean
  /** No event has arrived on this stream yet. */
  #isEmpty = true
  /** The failure that the parser reported, if any. */
  #failure: string | null = null
  #link: AbortLink | null = null

  constructor(request: StreamRequest, plan: StreamPlan, observer: FeedObserver, isReferenced: boolean) {
    this.#plan = plan
    this.#request = request
    this.#observer = observer
    this.#reconnection = new Reconnection(plan)
    this.#lastEventId = plan.lastEventId
    this.#isReferenced = isReferenced
    const { signal } = plan
    if (signal === null) return
    this.#link = AbortLink.to(signal, { onAbort: (reason) => this.close({ value: orAbortError(reason) }) })
  }

  /** The id to resume after. */
  get lastEventId(): string {
    return this.#state.at === 'open' ? this.#state.stream.lastEventId : this.#lastEventId
  }

  /** Why it is over; null if it is not, or if it ended without an error. */
  get error(): { readonly value: unknown } | null {
    return this.#state.at === 'over' ? this.#state.error : null
  }

  get isOver(): boolean {
    return this.#state.at === 'over'
  }

  /** Does the next step: connect, read what comes next, or wait. False once it is over. Never rejects. */
  async advance(): Promise<boolean> {
    const state = this.#state
    if (state.at === 'connecting') await this.#connect()
    else if (state.at === 'open') await this.#read(state.stream)
    else if (state.at === 'waiting') {
      await state.over
      if (!this.isOver) this.#enter(CONNECTING)
    }
    return !this.isOver
  }

  /** Ends everything at once, silently. */
  close(error: Over['error'] = null): void {
    const state = this.#state
    if (state.at === 'over') return
    this.#enter({ at: 'over', error })
    this.#attempt?.abort()
    this.#attempt = null
    if (state.at === 'open') state.stream.close()
    this.#endWait()
  }

  setReferenced(on: boolean): void {
    this.#isReferenced = on
    this.#timer?.[on ? 'ref' : 'unref']?.()
  }

  #enter(state: State): void {
    // The id outlives the stream that brought it.
    this.#lastEventId = this.lastEventId
    this.#state = state
    if (state.at !== 'over') return
    this.#link?.end()
    this.#link = null
  }

  async #connect(): Promise<void> {
    const attempt = new AbortController()
    this.#attempt = attempt
    let response: Response
    try {
      response = await this.#request.send(this.#lastEventId, attempt.signal)
    } catch (error) {
      await this.#end({ kind: 'lost' }, reasonOf(error))
      return
    }
    const objection = objectionTo(response)
    if (objection !== null) {
      const retryAfter = retryAfterOf(response)
      const error = await explain(response, objection)
      await this.#end({ kind: 'refused', statusCode: response.status, retryAfter }, error)
      return
    }
    if (this.isOver) {
      response.body?.cancel().catch(ignoreError)
      return
    }
    this.#open(response)
  }

  #open(response: Response): void {
    const { dispatcher, idleTimeout } = this.#plan
    const observer = this.#observer
    const sink: EventSink = {
      onEvent: (type, data, lastEventId) => {
        this.#isEmpty = false
        this.#reconnection.attempts = 0
        observer.onEvent(type, data, lastEventId)
      },
      onRetry: (milliseconds) => {
        this.#reconnection.serverTime = milliseconds
      },
      onFailure: (failure) => {
        this.#failure = failure.message
      },
    }
    if (observer.onComment !== undefined) sink.onComment = (text) => observer.onComment!(text)
    const limits = eventLimits(maxEventSizeOf(dispatcher ?? getGlobalDispatcher()))
    const parser = new EventStreamParser(sink, limits, this.#lastEventId)
    this.#isEmpty = true
    this.#enter({ at: 'open', stream: new OpenStream(response, parser, idleTimeout) })
    observer.onOpen(response)
  }

  async #read(stream: OpenStream): Promise<void> {
    let end: StreamEnd
    let error: unknown = null
    try {
      const more = await stream.read()
      if (this.#failure === null) {
        if (more) return
        end = { kind: 'ended', isEmpty: this.#isEmpty }
      } else {
        end = { kind: 'excessive' }
        error = new ResponseExceededMaxSizeError(this.#failure)
      }
    } catch (reason) {
      end = { kind: 'lost' }
      error = reasonOf(reason)
    }
    stream.close()
    await this.#end(end, error)
  }

  /** Decides what follows, and reports it. */
  async #end(end: StreamEnd, error: unknown): Promise<void> {
    if (this.isOver) return
    // It is no longer open, even while the decision is pending.
    this.#enter(CONNECTING)
    this.#attempt?.abort()
    this.#attempt = null
    const delay = this.#request.isReplayable ? this.#reconnection.after(end) : null
    const { attempts } = this.#reconnection
    let event = streamErrorEvent(error, delay, attempts)
    if (delay !== null && this.#plan.shouldReconnect !== null) {
      try {
        if (!(await this.#ask(event))) event = streamErrorEvent(error, null, attempts)
      } catch (thrown) {
        event = streamErrorEvent(thrown, null, attempts)
      }
      if (this.isOver) return
    }
    // The wait begins with the event that announces it.
    if (event.delay !== null) this.#enter({ at: 'waiting', over: this.#startWait(event.delay) })
    else this.#enter({ at: 'over', error: event.error === null ? null : { value: event.error } })
    this.#observer.onEnd(event)
  }

  /** Asks `shouldReconnect`. `close()` ends the wait, because the answer may never come. */
  async #ask(event: StreamErrorEvent): Promise<unknown> {
    const closed = new Promise<false>((resolve) => {
      this.#wake = () => resolve(false)
    })
    try {
      return await Promise.race([this.#plan.shouldReconnect!(event), closed])
    } finally {
      this.#wake = null
    }
  }

  #startWait(delay: number): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve
      this.#timer = startTimer(() => this.#endWait(), delay)
      if (!this.#isReferenced) this.#timer.unref?.()
    })
  }

  #endWait(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
    this.#wake?.()
    this.#wake = null
  }
}

/** `fetch` wraps network errors; the useful code is on the inner one. */
function reasonOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error
}

/** Dispatchers of other libraries may not have this option. */
function maxEventSizeOf(dispatcher: object): number {
  const { eventSourceOptions } = dispatcher as { eventSourceOptions?: { maxEventSize?: unknown } }
  const size = eventSourceOptions?.maxEventSize
  return Number.isInteger(size) && (size as number) >= 0 ? (size as number) : DEFAULT_MAX_EVENT_SIZE
}
