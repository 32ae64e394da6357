/**
 * The body of a request or a response, in one of a few states. A stream is created only on demand: known content
 * stays in its original form, received chunks are buffered, and `text()` and the like read from there. Knows neither
 * where chunks come from ({@link BodyFeed}) nor which object the body belongs to.
 *
 * Long because every state has to answer each call of a reader, of a stream and of the feed.
 */
import { Readable } from 'node:stream'
import type { ReadableByteStreamController, ReadableStream } from 'node:stream/web'
import { BodyBytes } from '../../base/body-bytes.ts'
import { holdBytes } from '../../base/held-bytes.ts'
import { ignoreError } from '../../base/ignore-error.ts'
import { ownBytes } from '../../base/own-bytes.ts'
import type { CollectContext, Conversion } from '../../body/collect.ts'
import { BodyCollector, convertBytes, NO_CONTEXT, toText } from '../../body/collect.ts'
import { Branches, teeStream } from './branches.ts'
import { type BodyFeed, type BodySink, IterableFeed } from './feed.ts'
import { type BodyOrigin, bytesOf, isWhole, type PulledOrigin } from './origin.ts'
import type { BodyState } from './state.ts'
import { collectStream, makeByteStream, proxyOf } from './streams.ts'

/** How many unread bytes are buffered before the source is paused. */
const HIGH_WATER_MARK = 65_536

export class Body implements BodySink {
  #state: BodyState = 'held'
  #origin: BodyOrigin | null
  #feed: BodyFeed | null
  /** Received and not yet read; null if nothing is. */
  #held: BodyBytes | null = null
  #ended = false
  #paused = false
  /** Another body has the same chunks, so their memory must not be transferred. */
  #shared = false
  #collector: BodyCollector<unknown> | null = null
  #context: CollectContext = NO_CONTEXT
  #error: unknown = null
  #stream: ReadableStream<Uint8Array> | null = null
  /** The controller of a stream created here; null for a caller's stream. */
  #controller: ReadableByteStreamController | null = null
  #pulled = false
  /** The announced length; 0 if there is none. */
  #expected = 0

  constructor(origin: BodyOrigin | null, feed: BodyFeed | null = null, expected = 0) {
    this.#origin = origin
    this.#feed = feed
    this.#expected = expected
  }

  /** A body of chunks that can be read only once. */
  static from(chunks: AsyncIterable<unknown>): Body {
    const feed = new IterableFeed(chunks)
    const body = new Body(null, feed)
    feed.deliverTo(body)
    return body
  }

  /** A body over a stream that the caller created. */
  static streamed(stream: ReadableStream): Body {
    const body = new Body(null, null)
    body.#state = 'streamed'
    body.#stream = stream
    return body
  }

  /** What the body was made from; null once it has been touched. */
  get origin(): BodyOrigin | null {
    return this.#state === 'held' ? this.#origin : null
  }

  get used(): boolean {
    if (this.#state === 'collecting' || this.#state === 'used') return true
    return this.#stream !== null && Readable.isDisturbed(this.#stream as unknown as Readable)
  }

  /** Neither read nor being read. */
  get usable(): boolean {
    return !this.used && this.#stream?.locked !== true
  }

  get awaited(): boolean {
    return this.#state === 'collecting' || this.#pulled
  }

  /** Created on first access. */
  get stream(): ReadableStream<Uint8Array> {
    if (this.#stream === null) {
      const state = this.#state
      this.#stream = makeByteStream(this)
      if (state === 'failed') this.#controller!.error(this.#error)
      else if (state !== 'held') this.#stream.getReader()
      else {
        this.#state = 'streamed'
        if (this.#isEmpty()) this.#close()
      }
    }
    return this.#stream
  }

  /** The whole content, converted. `context` is not read until the content is complete. */
  collect<T>(convert: Conversion<T>, context: CollectContext = NO_CONTEXT): Promise<T> {
    if (!this.usable) {
      return Promise.reject(new TypeError('Body is unusable: Body has already been read'))
    }
    const state = this.#state
    if (state === 'failed') return Promise.reject(this.#error)
    if (state === 'streamed' && this.#controller === null) {
      return this.#collectForeign(convert, context)
    }
    // A stream of ours that has not been read holds no chunks: they are all in this body.
    this.#stream?.getReader()
    this.#state = 'collecting'
    const origin = this.#origin
    if (isWhole(origin)) {
      this.#held = BodyBytes.of(bytesOf(origin))
      return this.#convertHeld(convert, context)
    }
    if (origin !== null) this.#startReading(origin)
    if (!this.#ended) return this.#gather(convert, context)
    return this.#feed?.isAbortable ? this.#convertSoon(convert, context) : this.#convertHeld(convert, context)
  }

  /** A body made from a string returns that string without encoding it. */
  collectText(): Promise<string> {
    if (this.#state !== 'held' || typeof this.#origin !== 'string') return this.collect(toText)
    this.#state = 'used'
    const text = this.#origin
    this.#origin = null
    return Promise.resolve(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  }

  /** A second body with the same content. Only for a usable body. */
  clone(): Body {
    if (this.#state === 'streamed' && this.#controller === null) {
      const [first, second] = teeStream(this.#stream!)
      this.#stream = first
      return Body.streamed(second)
    }
    this.#forgetStream()
    const origin = this.#origin
    const copy = new Body(origin, null, this.#expected)
    this.#shared = true
    copy.#continue(this)
    if (this.#state === 'failed' || origin !== null) return copy
    copy.#held = this.#held?.clone() ?? null
    if (this.#feed !== null) {
      const branches = new Branches(this.#feed, this, copy, this.#paused)
      this.#feed = branches.first
      copy.#feed = branches.second
    }
    return copy
  }

  /** Moves the content to a new body. This one counts as used from then on. */
  handOver(): Body {
    if (this.#state === 'streamed' && this.#controller === null) {
      const taken = Body.streamed(proxyOf(this.#stream!))
      this.#state = 'used'
      return taken
    }
    // The stream stays that of this body.
    this.#lockStream()
    const feed = this.#release()
    const taken = new Body(this.#origin, feed, this.#expected)
    taken.#continue(this)
    taken.#held = this.#held
    feed?.deliverTo(taken)
    this.#state = 'used'
    this.#held = null
    this.#origin = null
    return taken
  }

  /** Takes over the state of another body. */
  #continue(other: Body): void {
    this.#state = other.#state
    this.#error = other.#error
    this.#ended = other.#ended
    this.#paused = other.#paused
    this.#shared = other.#shared
  }

  /** Gives up a body that is no longer wanted. */
  cancel(reason: unknown): void {
    const stream = this.#stream
    if (stream !== null && this.#controller === null) {
      if (!stream.locked) stream.cancel(reason).catch(ignoreError)
      return
    }
    this.fail(reason)
    this.#release()?.cancel(reason)
  }

  receive(chunk: Buffer): void {
    if (this.#ended || chunk.byteLength === 0) return
    switch (this.#state) {
      case 'collecting':
        this.#hold(chunk)
        return
      case 'streamed':
        if (this.#pulled && !this.#holds()) {
          this.#pulled = false
          this.#enqueue(chunk)
          return
        }
        break
      case 'held':
        break
      default:
        return
    }
    this.#hold(chunk)
    this.#limitHeld()
  }

  #limitHeld(): void {
    if (this.#paused || this.#held!.size < HIGH_WATER_MARK) return
    this.#paused = true
    this.#feed?.pause()
  }

  receiveLent(memory: Buffer, start: number, end: number): void {
    if (this.#state === 'collecting' && this.#held !== null && !this.#ended) {
      this.#held.addLent(memory, start, end)
    } else if (this.#held === null && this.#state === 'held' && start < end && !this.#ended) {
      this.#held = BodyBytes.begin(memory, start, end, this.#expected)
      this.#limitHeld()
    } else {
      // A reader that waits gets its memory, too.
      this.receive(this.#pulled ? ownBytes(memory, start, end) : holdBytes(memory, start, end))
    }
  }

  complete(): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#state === 'collecting') this.#finish()
    else if (this.#state === 'streamed' && !this.#holds()) this.#close()
  }

  fail(error: unknown): void {
    const state = this.#state
    if (state === 'used' || state === 'failed') return
    const collector = this.#collector
    this.#state = state === 'collecting' ? 'used' : 'failed'
    this.#error = error
    this.#held = null
    this.#collector = null
    this.#pulled = false
    if (state === 'collecting') collector?.fail(error)
    else if (state === 'streamed') this.#controller?.error(error)
  }

  onStreamStart(controller: ReadableByteStreamController): void {
    this.#controller = controller
  }

  onStreamPull(): void {
    if (this.#state !== 'streamed') return
    const origin = this.#origin
    if (isWhole(origin)) {
      this.#origin = null
      this.#enqueue(bytesOf(origin))
      this.#close()
      return
    }
    if (origin !== null) this.#startReading(origin)
    const chunk = this.#held?.takeOwn()
    if (chunk === undefined) {
      this.#pulled = true
    } else {
      this.#enqueue(chunk)
      if (this.#ended && !this.#holds()) {
        this.#close()
        return
      }
    }
    this.#resume()
  }

  onStreamCancel(reason: unknown): void {
    if (this.#state !== 'streamed') return
    this.#state = 'used'
    this.#held = null
    this.#pulled = false
    this.#release()?.cancel(reason)
  }

  #startReading(origin: PulledOrigin): void {
    const feed = new IterableFeed(origin.chunks())
    feed.deliverTo(this)
    this.#feed = feed
    this.#origin = null
  }

  #resume(): void {
    if (this.#ended) return
    this.#paused = false
    this.#feed?.resume()
  }

  #holds(): boolean {
    return this.#held !== null && this.#held.size > 0
  }

  #hold(chunk: Buffer): void {
    if (this.#held === null) this.#held = BodyBytes.of(chunk)
    else this.#held.add(chunk)
  }

  #takeHeld(): BodyBytes {
    const bytes = this.#held ?? BodyBytes.none()
    this.#held = null
    return bytes
  }

  /** Whether there is nothing to read, now or later. */
  #isEmpty(): boolean {
    const origin = this.#origin
    if (isWhole(origin)) return origin.length === 0
    return this.#ended && !this.#holds()
  }

  /** A byte stream detaches the memory of the chunks it is given. Memory that is shared is copied first. */
  #enqueue(chunk: Uint8Array): void {
    const own = !this.#shared && chunk.byteLength === chunk.buffer.byteLength
    this.#controller!.enqueue(own && chunk.buffer instanceof ArrayBuffer ? chunk : new Uint8Array(chunk))
  }

  #close(): void {
    const controller = this.#controller!
    this.#pulled = false
    controller.close()
    // A reader that supplied its own buffer waits until it gets the buffer back.
    controller.byobRequest?.respond(0)
    this.#release()?.spent()
  }

  #convertHeld<T>(convert: Conversion<T>, context: CollectContext): Promise<T> {
    const bytes = this.#takeHeld()
    this.#state = 'used'
    this.#origin = null
    this.#release()?.spent()
    try {
      return Promise.resolve(convertBytes(bytes, convert, context))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** An abort in the turn of the call still rejects, as it errors the stream that the standard reads from. */
  #convertSoon<T>(convert: Conversion<T>, context: CollectContext): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#collector = new BodyCollector(convert, resolve, reject) as BodyCollector<unknown>
      this.#context = context
      queueMicrotask(() => {
        if (this.#state === 'collecting') this.#finish()
      })
    })
  }

  #gather<T>(convert: Conversion<T>, context: CollectContext): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const collector = new BodyCollector(convert, resolve, reject)
      this.#collector = collector as BodyCollector<unknown>
      this.#context = context
      this.#held ??= BodyBytes.none()
      this.#held.expect(this.#expected, collector.isDecoding)
      this.#resume()
    })
  }

  #finish(): void {
    const collector = this.#collector!
    const bytes = this.#takeHeld()
    this.#state = 'used'
    this.#collector = null
    this.#origin = null
    this.#release()?.spent()
    try {
      collector.finish(bytes, this.#context)
    } catch (error) {
      collector.fail(error)
    }
  }

  #collectForeign<T>(convert: Conversion<T>, context: CollectContext): Promise<T> {
    const bytes = BodyBytes.none()
    const collected = collectStream(this.#stream!, (chunk) => bytes.add(chunk))
    this.#state = 'used'
    return collected.then(() => convert(bytes, context))
  }

  /** Detaches the feed: it gets no more requests from this body. */
  #release(): BodyFeed | null {
    const feed = this.#feed
    this.#feed = null
    return feed
  }

  /** Takes the content back from a stream of ours that has not been read. The stream stays locked. */
  #lockStream(): void {
    if (this.#stream === null || this.#state === 'failed') return
    this.#stream.getReader()
    this.#state = 'held'
  }

  /** A stream of ours that has not been read is replaced by another one, as the standard's tee does. */
  #forgetStream(): void {
    if (this.#state === 'failed') return
    this.#lockStream()
    this.#stream = null
    this.#controller = null
  }
}
