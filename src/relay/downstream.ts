/**
 * The caller's side of a request that passes through: its handler, and the one controller that the handler
 * gets, however many attempts the response takes. The handler gets exactly one final call, nothing while it
 * is paused, and no call within another. Does not know where the response comes from.
 */
import type { Duplex } from 'node:stream'
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { type CallContext, captureContext, runIn } from '../base/loop/call-context.ts'
import { isThenable } from '../base/loop/thenable.ts'
import { RequestAbortedError, SocketError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { HttpVersion } from '../request/connection-facts.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { RawFields } from '../request/received-fields.ts'
import type { AttemptProgress } from './attempt.ts'
import { prepareForFacts, type ResponseFacts, responseFacts, stateFacts } from './response-facts.ts'
import type { Head, Received, ResponseSource } from './response-source.ts'

type Hook = keyof DispatchHandler

/** `settled`: the handler had its final call. */
type State = 'waiting' | 'started' | 'responding' | 'settled'

export class Downstream implements DispatchController, AttemptProgress {
  readonly handler: DispatchHandler
  /** An abort or a resume may come from any async context; what it causes runs in that of the call. */
  readonly #context: CallContext | null = captureContext()
  /** Other requests cause its calls, such as those that share the response. */
  readonly #isShared: boolean
  #source: ResponseSource | null = null
  #state: State = 'waiting'
  /** Beside the state: a request that has started may wait again. */
  #announced = false
  #abortion: { readonly reason: unknown } | null = null
  /** Beside the state: the final call follows when the dispatcher has failed the attempt. */
  #hasThrown = false
  /** What the handler wants, and what the source was told: they differ while a call of the handler runs. */
  #paused = false
  #isSourcePaused = false
  #isCalling = false
  /** What the handler does not take yet. */
  #held: BodyBytes | null = null
  #heldEnd: HeaderObject | null = null
  /**
   * Of the attempt that runs, and of the one whose head the handler got: a later one has other raw fields.
   */
  #received: Received | null = null
  #shown: Received | null = null

  constructor(handler: DispatchHandler, isShared = false) {
    this.handler = handler
    this.#isShared = isShared
    prepareForFacts(this)
  }

  /** Aborted or paused if the request is. */
  set source(source: ResponseSource | null) {
    this.#source = source
    this.#isSourcePaused = this.#paused
    if (source === null) return
    if (this.#abortion !== null) source.abort(this.#abortion.reason)
    else if (this.#paused) source.pause()
  }

  get settled(): boolean {
    return this.#state === 'settled'
  }

  /** The handler has the controller. */
  get started(): boolean {
    return this.#state !== 'waiting'
  }

  get aborted(): boolean {
    return this.#abortion !== null
  }

  get reason(): Error | null {
    // A caller may abort with any value, but most code that reads it expects an error.
    return (this.#abortion?.reason ?? null) as Error | null
  }

  /** The handler waits for a response. If not, the error of an attempt says nothing about the server. */
  get isWanted(): boolean {
    return !this.aborted && !this.settled && !this.#hasThrown
  }

  get paused(): boolean {
    return this.#paused
  }

  get rawHeaders(): RawFields {
    return (this.#shown ?? this.#received)?.rawHeaders ?? null
  }

  set rawHeaders(value: RawFields) {
    const received = this.#shown ?? this.#received
    if (received !== null) received.rawHeaders = value
  }

  get rawTrailers(): RawFields {
    return this.#received?.rawTrailers ?? null
  }

  set rawTrailers(value: RawFields) {
    if (this.#received !== null) this.#received.rawTrailers = value
  }

  // Both are absent from controllers of other dispatchers, which the type of a getter cannot say.

  get timings(): Timings {
    return (this.#shown ?? this.#received)?.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#received?.maxResponseSize as number
  }

  /** Of the attempt whose head the handler got, or of the last one. */
  get httpVersion(): HttpVersion | null {
    return (this.#shown ?? this.#received)?.httpVersion ?? null
  }

  abort(reason?: unknown): void {
    if (this.#abortion !== null || this.settled) return
    this.#abortion = { reason }
    runIn(this.#context, this.#giveUp, this, reason)
  }

  #giveUp(reason: unknown): void {
    try {
      this.#source?.abort(reason)
    } finally {
      if (!this.settled) this.fail(new RequestAbortedError())
    }
  }

  pause(): void {
    this.#paused = true
    if (this.#isSourcePaused) return
    this.#isSourcePaused = true
    this.#source?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (!this.#isCalling) this.contain(this.#flow)
  }

  get wantsQueued(): boolean {
    return this.handler.onRequestQueued !== undefined
  }

  get wantsBodySent(): boolean {
    return this.handler.onBodySent !== undefined
  }

  /** Lets the handler give the request up while it waits: once, however many attempts do. */
  announce(): void {
    if (this.#announced || this.settled) return
    this.#announced = true
    try {
      if (this.wantsQueued) this.#call('onRequestQueued', (reason?: unknown) => this.abort(reason))
    } catch (error) {
      this.abort(error)
    }
  }

  bodySent(chunk: string | Uint8Array): void {
    if (!this.settled) this.#deliver('onBodySent', chunk)
  }

  notify(name: 'onRequestSent' | 'onResponseStarted'): void {
    if (!this.settled) this.#deliver(name)
  }

  /** An attempt has started. Handlers are told of each. */
  start(context: unknown, received: Received | null): void {
    if (this.settled) return
    if (this.#state === 'waiting') this.#state = 'started'
    this.#received = received
    this.#deliver('onRequestStart', this, context)
  }

  /**
   * An informational head, or the final one. What becomes of a second final head is the handler's decision.
   */
  head(head: Head, received: Received | null, facts: ResponseFacts = responseFacts(received)): void {
    if (this.settled) return
    const { statusCode, headers, statusText } = head
    this.#received = received
    if (statusCode >= 200) {
      this.#state = 'responding'
      this.#shown = received
      stateFacts(this, facts)
    }
    this.#deliver('onResponseStart', this, statusCode, headers, statusText)
  }

  data(chunk: Buffer): void {
    if (this.settled) return
    if (this.#isHeldUp) {
      this.#held ??= BodyBytes.none()
      this.#held.add(chunk)
    } else this.#deliver('onResponseData', this, chunk)
  }

  /** The same for bytes in memory that is lent for the length of the call. */
  bytes(memory: Buffer, start: number, end: number): void {
    if (this.handler.onResponseBytes === undefined || this.#isHeldUp) this.data(ownBytes(memory, start, end))
    else if (!this.settled) this.#deliver('onResponseBytes', this, memory, start, end)
  }

  end(trailers: HeaderObject, received: Received | null): void {
    if (this.settled) return
    this.#received = received
    if (this.#isHeldUp) this.#heldEnd = trailers
    else this.#end(trailers)
  }

  /** What `onResponseEnd` throws is reported to the same handler, as a dispatcher does. */
  #end(trailers: HeaderObject): void {
    this.#state = 'settled'
    try {
      this.#call('onResponseEnd', this, trailers)
    } catch (error) {
      this.#call('onResponseError', this, error as Error)
    }
  }

  /** A handler that has no use for the connection gets an error instead. */
  upgrade(
    { statusCode, headers }: Head,
    socket: Duplex,
    received: Received | null,
    facts: ResponseFacts = responseFacts(received),
  ): void {
    if (this.settled || this.handler.onRequestUpgrade === undefined) {
      socket.destroy()
      this.fail(new SocketError('bad upgrade'))
      return
    }
    this.#state = 'settled'
    this.#received = received
    this.#shown = received
    stateFacts(this, facts)
    this.#call('onRequestUpgrade', this, statusCode, headers, socket)
  }

  /** The final call with an error; with the caller's own if it has aborted with one. */
  fail(error: Error): void {
    if (this.settled) return
    const controller = this.started ? this : null
    this.#state = 'settled'
    this.#held = null
    this.#call('onResponseError', controller, (this.reason || error) as Error)
  }

  /**
   * Runs calls that no dispatcher is around to catch, in the context of the call. What the handler throws
   * fails the request and ends its source.
   */
  contain(act: (this: this) => void): void {
    try {
      runIn(this.#context, act, this)
    } catch (thrown) {
      const wasSettled = this.settled
      try {
        this.fail(thrown as Error)
      } catch {
        // It was the final call, and there is no other that could report what it threw.
      }
      if (!wasSettled) this.#source?.abort(thrown)
    }
  }

  get #isHeldUp(): boolean {
    return this.#paused || this.#isCalling || this.#held !== null
  }

  /** A call after which more may come. What comes while it runs waits until it has returned. */
  #deliver(name: Hook, a?: unknown, b?: unknown, c?: unknown, d?: unknown): void {
    const isInner = this.#isCalling
    this.#isCalling = true
    try {
      this.#call(name, a, b, c, d)
    } finally {
      this.#isCalling = isInner
    }
    if (!isInner && (this.#isSourcePaused || this.#held !== null || this.#heldEnd !== null)) this.#flow()
  }

  /** Hands over what was held, as far as the handler takes it, and lets the source go on. */
  #flow(): void {
    this.#isCalling = true
    try {
      while (this.#held !== null && !this.#paused && !this.settled) {
        const chunk = this.#held.shiftOwn()
        if (this.#held.size === 0) this.#held = null
        if (chunk !== undefined) this.#call('onResponseData', this, chunk)
      }
    } finally {
      this.#isCalling = false
    }
    if (this.#paused || this.settled) return
    if (this.#heldEnd !== null) this.#end(this.#heldEnd)
    else if (this.#isSourcePaused) {
      this.#isSourcePaused = false
      this.#source?.resume()
    }
  }

  #call(name: Hook, a?: unknown, b?: unknown, c?: unknown, d?: unknown): void {
    try {
      const answer = this.#isShared
        ? runIn(this.#context, callHook, null, this.handler, name, a, b, c, d)
        : callHook(this.handler, name, a, b, c, d)
      if (isThenable(answer)) this.#await(answer, name, d)
    } catch (error) {
      this.#hasThrown = true
      throw error
    }
  }

  /** A method that is an async function: what it rejects with counts as thrown. */
  #await(answer: Promise<unknown>, name: Hook, last: unknown): void {
    const fail = (error: Error): void => {
      if (name === 'onResponseEnd') this.#call('onResponseError', this, error)
      else if (name === 'onRequestUpgrade') (last as Duplex).destroy(error)
      else throw error
    }
    answer.then(undefined, (error: Error) => this.contain(() => fail(error)))
  }
}

/**
 * Calls a method of the handler, if it has it. Each is named, and its arguments are not gathered in an array:
 * every layer makes most of these calls for every request.
 */
function callHook(
  handler: DispatchHandler,
  name: Hook,
  a: unknown,
  b: unknown,
  c: unknown,
  d: unknown,
): unknown {
  const controller = a as DispatchController
  switch (name) {
    case 'onRequestQueued':
      return handler.onRequestQueued?.(a as DispatchController['abort'])
    case 'onRequestStart':
      return handler.onRequestStart?.(controller, b)
    case 'onBodySent':
      return handler.onBodySent?.(a as string | Uint8Array)
    case 'onRequestSent':
      return handler.onRequestSent?.()
    case 'onResponseStarted':
      return handler.onResponseStarted?.()
    case 'onResponseStart':
      return handler.onResponseStart?.(controller, b as number, c as HeaderObject, d as string)
    case 'onResponseData':
      return handler.onResponseData?.(controller, b as Buffer)
    case 'onResponseBytes':
      return handler.onResponseBytes?.(controller, b as Buffer, c as number, d as number)
    case 'onResponseEnd':
      return handler.onResponseEnd?.(controller, b as HeaderObject)
    case 'onRequestUpgrade':
      return handler.onRequestUpgrade?.(controller, b as number, c as HeaderObject, d as Duplex)
    case 'onResponseError':
      return handler.onResponseError?.(controller, b as Error)
  }
}
