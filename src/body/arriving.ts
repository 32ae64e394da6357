/**
 * A response body as it arrives: owns the state and its transitions, steers the source and ends the stream.
 * Consumers are in readable.ts.
 *
 * A failure ends the process only if a listener threw it. Consumers get it, `errored` shows it, and a body
 * without consumers fails quietly.
 */

import { getDefaultHighWaterMark, type ReadableOptions } from 'node:stream'
import { type BodyBytes, bytesOf } from '../base/bytes/body-bytes.ts'
import { holdBytes, MAX_SHARED } from '../base/bytes/held-bytes.ts'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { withStack } from '../base/error/as-error.ts'
import { destroyQuietly, ignoreError } from '../base/error/ignore-error.ts'
import { Deferred } from '../base/loop/deferred.ts'
import { runtimeNextTick, runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { AbortError, RequestAbortedError } from '../errors.ts'
import { type Destination, IdleReadable, isGone } from './idle-readable.ts'
import { type BodySource, Incoming } from './incoming.ts'
import { ANNOUNCED, advance, type BodyState, HELD, STREAMING, UNANNOUNCED } from './state.ts'

/** Without a prototype, which could be polluted. Kept, because most bodies have the same limit. */
let lastOptions: ReadableOptions = { __proto__: null, highWaterMark: 0 } as ReadableOptions

/** Undefined for the runtime's own limit: a stream looks for ten more options in any object it gets. */
function streamOptions(highWaterMark: number): ReadableOptions | undefined {
  if (highWaterMark === getDefaultHighWaterMark(false)) return undefined
  if (lastOptions.highWaterMark !== highWaterMark) {
    lastOptions = { __proto__: null, highWaterMark } as ReadableOptions
  }
  return lastOptions
}

/** The listener that represents an iterator. */
function readByIterator(): void {}

export abstract class ArrivingBody extends IdleReadable {
  /**
   * What has arrived and was not consumed, in memory that callers must not get. A running stream has copies
   * of the same chunks; they stay here until it is first read.
   */
  readonly #incoming: Incoming
  #state: BodyState = HELD
  /** What iterators wait for: resolved when something has arrived, or nothing more will. */
  #awaited: Deferred | null = null

  constructor(source: BodySource, highWaterMark: number) {
    super(streamOptions(highWaterMark))
    this.#incoming = new Incoming(source, highWaterMark)
  }

  /** The last byte has arrived for a collection. */
  protected abstract onCollected(): void

  /** The length that the head announced, if it did. */
  protected abstract get announced(): number | null

  protected get incoming(): Incoming {
    return this.#incoming
  }

  protected get bodyState(): BodyState {
    return this.#state
  }

  /** Puts a chunk back, to be read or collected before all others. */
  override unshift(chunk: unknown, encoding?: BufferEncoding): void {
    const result = super.unshift(chunk, encoding)
    const bytes = bytesOf(chunk, encoding)
    if (bytes !== null && this.#isCollectable()) this.#incoming.unshift(bytes)
    // The runtime returns whether there is room for more; its types do not say so.
    // biome-ignore lint/correctness/noVoidTypeReturn: see above.
    return result
  }

  /**
   * Whether nothing is left that an abort could take away.
   *
   * @internal
   */
  get spent(): boolean {
    return this.isAtHand && this.heldLength === 0
  }

  /**
   * A chunk of the body has arrived.
   *
   * @internal
   */
  receive(chunk: Buffer): void {
    const incoming = this.#incoming
    if (this.destroyed || incoming.isComplete || chunk.length === 0) return
    const state = this.#state
    switch (state.kind) {
      case 'collecting':
        this.noteRead()
        state.bytes.add(chunk)
        if (this.isRunning) this.#give(chunk)
        return
      case 'dumping':
        if (state.room === null) {
          if (!this.#give(chunk)) incoming.pause()
          return
        }
        this.noteRead()
        state.room -= chunk.length
        if (state.room < 0) this.destroy(new AbortError())
        return
      case 'held':
      case 'iterating':
        incoming.add(chunk)
        this.#onHeld()
        return
      default:
        if (this.#isCollectable()) incoming.add(chunk)
        else incoming.clear()
        if (this.isRunning && !this.#give(chunk)) incoming.pause()
    }
  }

  /**
   * A piece of the body has arrived, in memory that is lent for the length of the call.
   *
   * @internal
   */
  receiveLent(memory: Buffer, start: number, end: number): void {
    const state = this.#state
    const size = end - start
    if (this.isRunning || (state.kind === 'iterating' && size > MAX_SHARED)) {
      this.receive(ownBytes(memory, start, end))
    } else if (state.kind === 'collecting' && !this.#incoming.isComplete && !this.destroyed) {
      this.noteRead()
      state.bytes.addLent(memory, start, end)
    } else if (this.#isHolding && size > 0) {
      // A small piece is usually the whole body. If it is not, it is copied once more.
      const announced = size <= MAX_SHARED || this.heldLength > 0 ? null : this.announced
      this.#incoming.addLent(memory, start, end, announced ?? 0)
      this.#onHeld()
    } else {
      this.receive(holdBytes(memory, start, end))
    }
  }

  /**
   * All of the body has arrived.
   *
   * @internal
   */
  complete(): void {
    if (this.destroyed || this.#incoming.isComplete) return
    this.#incoming.complete()
    if (this.isRunning) this.push(null)
    this.#wakeIterators()
    const state = this.#state
    if (state.kind === 'collecting') this.onCollected()
    else if (state.kind === 'dumping' && state.room !== null) this.endBody()
  }

  /**
   * The request failed. The reason may be any value, even one that a stream does not accept as an error.
   *
   * @internal
   */
  fail(reason: unknown): void {
    if (this.destroyed || this.#state.kind === 'failed') return
    this.#enterFailed(reason, false)
    destroyQuietly(this, reason)
  }

  override _read(): void {
    if (!this.isCrowded) this.#incoming.resume()
  }

  protected override onEased(): void {
    if (this.readableLength < this.readableHighWaterMark) this.#incoming.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (this.#state.kind !== 'failed') {
      if (error === null && this.readableEnded) {
        this.#incoming.clear()
        this.#incoming.spent()
        callback(null)
        return
      }
      this.#enterFailed(error ?? new RequestAbortedError(), false)
    }
    this.#reportFailure(callback)
  }

  // Transitions.

  protected enterState(state: BodyState): void {
    this.#state = advance(this.#state, state)
    this.#wakeIterators()
  }

  /** Whether the state shows no consumer. A running stream may have been read all the same. */
  protected get isUntouched(): boolean {
    return this.#state.kind === 'held' || this.#state.kind === 'streaming'
  }

  /** Whether a collection may still want the chunks that arrive: it has begun, or nothing was read. */
  #isCollectable(): boolean {
    return this.#state.kind === 'asked' || (this.isUntouched && !this.readableDidRead)
  }

  /** All of it has arrived, and the stream does not run. */
  protected get isAtHand(): boolean {
    return this.#incoming.isComplete && !this.isRunning
  }

  protected override onRun(): void {
    const { kind } = this.#state
    if (kind === 'held' || kind === 'iterating') this.enterState(STREAMING)
    // The iterator is a reader, although it listens only while it waits for more. Without a listener,
    // `resume()` would drop what the iterator has not taken.
    if (kind === 'iterating') this.on('readable', readByIterator)
    for (const chunk of this.#incoming.chunks) this.push(ownBytes(chunk, 0, chunk.length))
    // One that failed, and tells so later, does not end well before.
    if (this.#incoming.isComplete && kind !== 'failed') this.push(null)
  }

  protected override get isWhole(): boolean {
    return this.#state.kind === 'held' && this.isAtHand && this.heldLength > 0 && !this.readableDidRead
  }

  protected override handOver(destination: Destination): boolean {
    try {
      for (let chunk = this.shiftHeld(); chunk !== undefined; chunk = this.shiftHeld()) {
        const hasRoom = destination.write(chunk)
        // Whoever was called may have used the body.
        if (this.destroyed) return true
        if (!this.isAtHand || this.#state.kind !== 'held') return false
        if (!hasRoom && this.heldLength > 0 && !isGone(destination)) return false
      }
    } catch (error) {
      // The runtime gets it, as from a stream, whose pipe this would leave without an end.
      this.destroy(error as Error)
      throw error
    }
    // Before the destination: it may destroy the body when it ends, which is then no failure.
    this.endBody()
    // One that is destroyed, and told to end before it has closed, would seem to have finished.
    if (!isGone(destination)) destination.end()
    return true
  }

  /** The stream no longer waits for the iterator. */
  protected forgetIterator(): void {
    this.removeListener('readable', readByIterator)
  }

  /** The body is consumed. A stream that never ran emits its end only if somebody listens. */
  protected endBody(): void {
    this.enterState(UNANNOUNCED)
    this.#incoming.clear()
    this.#incoming.spent()
    if (this.isRunning || this.isEndHeard) this.announceEnd()
  }

  protected override announceEnd(): void {
    if (this.#state !== UNANNOUNCED) return
    this.enterState(ANNOUNCED)
    this.push(null)
    this.read()
  }

  #enterFailed(reason: unknown, isLoud: boolean): void {
    const before = this.#state
    this.enterState({ kind: 'failed', reason, isLoud, isUnused: before.kind === 'held' })
    this.#incoming.clear()
    if (before.kind === 'collecting') before.collector.reject(reason)
    if (this.#incoming.isComplete) this.#incoming.spent()
    else this.#incoming.cancel(reason)
  }

  #reportFailure(callback: (error?: Error | null) => void): void {
    const state = this.#state
    if (state.kind !== 'failed') return
    const report = (): void => {
      // An `error` listener is optional, because every consumer gets the reason. This one is added in the
      // tick before the event, so that `removeAllListeners` does not remove it.
      if (!state.isLoud) runtimeNextTick(() => this.on('error', ignoreError))
      callback(withStack(state.reason))
    }
    // The promise of the response resolves a microtask later, and its user must have time to listen.
    if (state.isUnused) runtimeSetImmediate(report)
    else report()
  }

  // The bytes.

  protected override get heldLength(): number {
    return this.#incoming.size
  }

  protected override get isOver(): boolean {
    const state = this.#state
    return state.kind === 'ended' && state.end !== 'streamed'
  }

  /** Whether what arrives is held for a consumer, who may be an iterator. */
  get #isHolding(): boolean {
    const { kind } = this.#state
    return (kind === 'held' || kind === 'iterating') && !this.#incoming.isComplete && !this.destroyed
  }

  #onHeld(): void {
    this.#incoming.hold()
    this.#wakeIterators()
  }

  /** An error thrown by a `data` listener becomes an uncaught exception, and ends this body. */
  #give(chunk: Buffer): boolean {
    try {
      return this.push(chunk)
    } catch (thrown) {
      if (this.#state.kind !== 'failed') this.#enterFailed(thrown, this.#state.kind === 'streaming')
      this.destroy(thrown as Error)
      return true
    }
  }

  /** Takes the held bytes; they count as read. */
  protected takeHeld(): BodyBytes {
    const bytes = this.#incoming.take()
    if (bytes.size > 0) this.noteRead()
    return bytes
  }

  /** Takes the first of the held bytes; they count as read. */
  protected shiftHeld(): Buffer | undefined {
    const chunk = this.#incoming.shift()
    if (chunk === undefined) return undefined
    this.noteRead()
    if (this.heldLength < this.readableHighWaterMark) this.#incoming.resume()
    return chunk
  }

  /** Resolves when an iterator that found nothing should look again. */
  protected nextArrival(): Promise<void> {
    this.#awaited ??= new Deferred()
    const { promise } = this.#awaited
    // It may arrive within this call.
    this.#incoming.resume()
    return promise
  }

  /** They look a microtask later, so that all chunks of one read come together. */
  #wakeIterators(): void {
    const awaited = this.#awaited
    this.#awaited = null
    awaited?.resolve()
  }
}
