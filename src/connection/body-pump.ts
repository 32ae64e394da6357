/**
 * Moves a request body from its source to a connection, with backpressure. The same pump serves all sources
 * that are not plain bytes, and both protocols.
 */
import { ignoreError } from '../base/error/ignore-error.ts'
import { Deadline, type DeadlineOwner } from '../base/loop/deadline.ts'
import { InvalidArgumentError, RequestAbortedError, RequestBodyTimeoutError } from '../errors.ts'
import { badPiece, isPiece } from '../request/body-piece.ts'
import {
  type BodyStream,
  cutShort,
  destroyStream,
  destroysItself,
  hasEnded,
  isGone,
  lostMemory,
  withFixedLength,
} from '../request/body-source.ts'
import type { Request } from '../request/request.ts'
import { gatherTrailers, type TrailersSource } from '../request/request-trailers.ts'

/** A stream, or the function that returns the pieces. */
export type PumpedSource = BodyStream | (() => Pieces)

type Pieces = Iterable<unknown> | AsyncIterable<unknown>

/** Streams that are being sent. A second request with one of them would get what the first leaves, as the whole. */
const inUse = new WeakSet<BodyStream>()

export abstract class BodyPump implements DeadlineOwner {
  readonly request: Request
  #state: 'pumping' | 'waiting' | 'gathering' | 'stopped' = 'pumping'
  #stream: BodyStream | null = null
  /** Null before it is asked for anything, and once nothing more is wanted of it. */
  #iterator: PieceIterator | null = null
  #wake: (() => void) | null = null
  /** Milliseconds for the next piece; 0 for any number. */
  readonly #timeout: number
  /** Null without a limit. */
  readonly #deadline: Deadline | null

  constructor(request: Request, timeout: number) {
    this.request = request
    this.#timeout = timeout
    this.#deadline = timeout === 0 ? null : new Deadline(this)
  }

  /** A non-empty piece. False: nothing more is wanted until `resume()`. */
  protected abstract onChunk(chunk: string | Uint8Array): boolean
  protected abstract onSourceEnd(): void
  /** The source failed, or brought something that is not a piece of a body. */
  protected abstract onSourceError(error: Error): void
  /** The request cannot be completed: the source was too slow, or its body is not what the head announced. */
  protected abstract onUnsendable(error: Error): void

  start(source: PumpedSource): void {
    this.request.onBodyRead()
    this.#deadline?.arm(this.#timeout)
    try {
      this.request.inContext(this.#begin, this, source)
    } catch (error) {
      // The caller's stream threw, or it is not a stream.
      this.#fail(error as Error)
    }
  }

  #begin(source: PumpedSource): void {
    if (typeof source === 'function') void this.#iterate(source())
    else this.#follow(source)
  }

  /** A piece was the last for now: `resume()` brings the next. */
  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** More is wanted. */
  resume(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'pumping'
    this.#deadline?.arm(this.#timeout)
    try {
      if (this.#stream?.resume) this.request.inContext(this.#stream.resume, this.#stream)
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#release()
  }

  /** Nothing more is wanted. A generator cannot be interrupted; it ends at its next step. */
  stop(): void {
    this.#state = 'stopped'
    if (this.#stream !== null) inUse.delete(this.#stream)
    this.#stream = null
    this.#deadline?.dispose()
    const iterator = this.#iterator
    this.#iterator = null
    if (iterator !== null) this.request.inContext(leave, null, iterator)
    this.#release()
  }

  /**
   * The trailers after the body, which may take as long as a piece of it. `done` is called unless `stop`
   * comes before.
   */
  protected gather(trailers: TrailersSource, done: (fields: readonly string[]) => void): void {
    this.#state = 'gathering'
    this.#deadline?.arm(this.#timeout)
    this.request.inContext(
      gatherTrailers,
      null,
      trailers,
      (fields) => this.#onTrailers(fields, done),
      (error) => this.#fail(error as Error),
    )
  }

  #onTrailers(fields: readonly string[], done: (fields: readonly string[]) => void): void {
    if (this.#state === 'stopped') return
    this.stop()
    try {
      done(fields)
    } catch (error) {
      this.onSourceError(error as Error)
    }
  }

  onDeadline(): void {
    if (this.#state === 'waiting') return
    this.stop()
    this.onUnsendable(new RequestBodyTimeoutError())
  }

  onBroken(error: Error): void {
    this.onSourceError(error)
  }

  #release(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  #follow(stream: BodyStream): void {
    if (hasEnded(stream)) {
      this.#finish(stream)
      return
    }
    if (stream.destroyed === true) {
      this.#fail(stream.errored ?? new RequestAbortedError())
      return
    }
    if (inUse.has(stream)) {
      this.#fail(new InvalidArgumentError('the body is being sent with another request'))
      return
    }
    inUse.add(stream)
    this.#stream = stream
    // Events after the end are ignored; the trailers may still be awaited.
    stream.on('end', () => {
      if (this.#stream === stream) this.#onEnd(stream)
    })
    stream.on('error', (error: Error) => {
      if (this.#stream === stream) this.#fail(error)
    })
    stream.on('close', () => {
      // Checked first: every stream closes, and creating an error is slow.
      if (this.#stream === stream) this.#fail(stream.errored ?? new RequestAbortedError())
    })
    stream.on('data', (chunk: unknown) => {
      if (this.#stream !== stream) {
        // It is destroyed later. A stream that emits without a break would keep that from happening.
        stream.pause?.()
        return
      }
      try {
        this.#deliver(chunk)
      } catch (error) {
        // Must not be thrown into the source.
        this.#fail(error as Error)
      }
    })
    stream.resume?.()
  }

  #onEnd(stream: BodyStream): void {
    const error = cutShort(stream)
    if (error === null) this.#finish(stream)
    else this.#fail(error)
  }

  async #iterate(source: Pieces): Promise<void> {
    try {
      const iterator = piecesOf(source)
      this.#iterator = iterator
      for (;;) {
        const result = await iterator.next()
        if (this.#isStopped()) return
        if (typeof result !== 'object' || result === null) {
          throw new TypeError(`Iterator result ${String(result)} is not an object`)
        }
        if (result.done) break
        this.#deliver(result.value)
        if (this.#state === 'waiting') {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
        if (this.#isStopped()) return
      }
    } catch (error) {
      this.#iterator = null
      this.#fail(error as Error)
      return
    }
    this.#iterator = null
    this.#finish()
  }

  #deliver(chunk: unknown): void {
    if (this.#state === 'stopped') return
    this.#deadline?.arm(this.#timeout)
    if (!isPiece(chunk)) {
      this.#fail(badPiece(chunk))
      return
    }
    const piece = typeof chunk === 'string' ? chunk : withFixedLength(chunk)
    if (piece.length === 0 && typeof piece !== 'string' && isGone(piece.buffer)) {
      this.#fail(lostMemory())
      return
    }
    if (piece.length === 0 || this.onChunk(piece) || this.#isStopped()) return
    this.#state = 'waiting'
    this.#deadline?.disarm()
    this.#stream?.pause?.()
  }

  /** It may have been stopped inside a call; the type checker does not see that. */
  #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  #finish(stream: BodyStream | null = null): void {
    if (this.#state === 'stopped') return
    this.stop()
    // Stopped before: some streams emit `close` within the call.
    if (stream !== null && !destroysItself(stream)) destroyStream(stream, null)
    try {
      this.onSourceEnd()
    } catch (error) {
      this.onSourceError(error as Error)
    }
  }

  #fail(error: Error): void {
    if (this.#state === 'stopped') return
    this.stop()
    this.onSourceError(error)
  }
}

interface PieceIterator {
  next(): IteratorResult<unknown> | Promise<IteratorResult<unknown>>
  return?(): unknown
}

/**
 * The iterator of a web stream would wait for the piece that it was asked for before it cancels the stream.
 */
function piecesOf(source: Pieces): PieceIterator {
  const { getReader } = source as { getReader?: unknown }
  if (typeof getReader === 'function') {
    const reader = (source as unknown as ReadableStream<unknown>).getReader()
    return {
      async next() {
        const result = (await reader.read()) as IteratorResult<unknown>
        if (result.done) reader.releaseLock()
        return result
      },
      return() {
        const cancelled = reader.cancel()
        reader.releaseLock()
        return cancelled
      },
    }
  }
  const asynchronous = (source as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator]
  if (asynchronous !== undefined && asynchronous !== null) return asynchronous.call(source as never)
  const iterator = (source as Iterable<unknown>)[Symbol.iterator]()
  return {
    // Each piece of a list may be a promise.
    async next() {
      const { done, value } = iterator.next()
      return done ? { done, value } : { done: false, value: await value }
    },
    return: () => iterator.return?.(),
  }
}

/** The rest is not wanted, so errors of the source are ignored. */
function leave(iterator: PieceIterator): void {
  try {
    Promise.resolve(iterator.return?.()).catch(ignoreError)
  } catch {
    // See above.
  }
}
