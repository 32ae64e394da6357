/**
 * The body of a request or a response. A stream is created only on demand: known content stays in its
 * original form, received chunks wait in {@link Incoming}, and `text()` and the like read from there. Knows
 * neither where chunks come from ({@link BodyFeed}) nor which object the body belongs to.
 */
import { Readable } from 'node:stream'
import type { ReadableByteStreamController, ReadableStream } from 'node:stream/web'
import { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { holdBytes } from '../../base/bytes/held-bytes.ts'
import { ownBytes } from '../../base/bytes/own-bytes.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import {
  type Conversion,
  convertBytes,
  type Describe,
  isDecoding,
  NO_CONTEXT,
  toText,
} from '../../body/collect.ts'
import { Incoming } from '../../body/incoming.ts'
import { type BodyState, HELD, STREAMED, STREAMING } from '../../body/state.ts'
import { Branches, teeStream } from './branches.ts'
import { type BodyFeed, type BodySink, IterableFeed } from './feed.ts'
import { type BodyOrigin, bytesOf, isWhole } from './origin.ts'
import { collectStream, makeStream, proxyOf } from './streams.ts'

/** How many unread bytes are buffered before the source is paused. */
const HIGH_WATER_MARK = 65_536

export class Body implements BodySink {
  #state: BodyState = HELD
  #origin: BodyOrigin | null
  #incoming: Incoming<BodyFeed>
  /** Another body has the same chunks, so their memory must not be transferred. */
  #shared = false
  #stream: ReadableStream<Uint8Array> | null = null
  /** The controller of a stream created here; null for a caller's stream. */
  #controller: ReadableByteStreamController | null = null
  #pulled = false
  /** The announced length; 0 if there is none. */
  readonly #expected: number

  constructor(origin: BodyOrigin | null, feed: BodyFeed | null = null, expected = 0) {
    this.#origin = origin
    this.#incoming = new Incoming(feed, HIGH_WATER_MARK)
    this.#expected = expected
  }

  /** A body of chunks that can be read only once. */
  static from(chunks: AsyncIterable<unknown>): Body {
    const body = new Body(null)
    body.#startReading(chunks)
    return body
  }

  /** A body that reads from the caller's stream. */
  static streamed(stream: ReadableStream): Body {
    const body = new Body(null)
    body.#state = STREAMING
    body.#stream = stream
    return body
  }

  /** What the body was made from; null once it has been touched. */
  get origin(): BodyOrigin | null {
    return this.#state.kind === 'held' ? this.#origin : null
  }

  get used(): boolean {
    const state = this.#state
    if (state.kind === 'collecting' || state.kind === 'ended') return true
    if (state.kind === 'failed' && !state.isUnused) return true
    return this.#stream !== null && Readable.isDisturbed(this.#stream as unknown as Readable)
  }

  /** Neither read nor being read. */
  get usable(): boolean {
    return !this.used && this.#stream?.locked !== true
  }

  get awaited(): boolean {
    return this.#state.kind === 'collecting' || this.#pulled
  }

  /** Created on first access. */
  get stream(): ReadableStream<Uint8Array> {
    if (this.#stream === null) {
      const state = this.#state
      this.#stream = makeStream<Uint8Array>({
        type: 'bytes',
        start: (controller: ReadableByteStreamController) => {
          this.#controller = controller
        },
        pull: () => this.#onPull(),
        cancel: (reason) => this.#onCancel(reason),
      })
      if (state.kind === 'failed' && state.isUnused) this.#controller!.error(state.reason)
      else if (state.kind !== 'held') this.#stream.getReader()
      else {
        this.#state = STREAMING
        if (this.#isEmpty()) this.#close()
      }
    }
    return this.#stream
  }

  /** The whole content, converted. */
  collect<T>(convert: Conversion<T>, describe: Describe | null = null): Promise<T> {
    // A body made from a string returns that string without encoding it.
    if (convert === (toText as Conversion<unknown>) && typeof this.origin === 'string') {
      const text = this.origin
      this.#end()
      return Promise.resolve((text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as T)
    }
    if (!this.usable) {
      return Promise.reject(new TypeError('Body is unusable: Body has already been read'))
    }
    const state = this.#state
    if (state.kind === 'failed') return Promise.reject(state.reason)
    if (this.#isForeign) return this.#collectForeign(convert)
    // Our own stream has buffered no chunks if it was not read: they are all in this body.
    this.#stream?.getReader()
    const origin = this.#origin
    if (isWhole(origin)) return this.#convert(BodyBytes.of(bytesOf(origin)), convert, describe)
    if (origin !== null) this.#startReading(origin.chunks())
    if (!this.#incoming.isComplete || this.#incoming.source?.isAbortable)
      return this.#gather(convert, describe)
    return this.#convert(this.#incoming.take(), convert, describe)
  }

  /** A second body with the same content. Only for a usable body. */
  clone(): Body {
    if (this.#isForeign) {
      const [first, second] = teeStream(this.#stream!)
      this.#stream = first
      return Body.streamed(second)
    }
    this.#takeBack()
    if (this.#state.kind !== 'failed') {
      // As with the standard's tee, our stream is replaced by another one.
      this.#stream = null
      this.#controller = null
    }
    const { source } = this.#incoming
    const copy = new Body(this.#origin, null, this.#expected)
    this.#shared = true
    copy.#shared = true
    copy.#state = this.#state
    copy.#incoming = this.#incoming.fork()
    if (source === null || this.#state.kind === 'failed') return copy
    const { first, second } = new Branches(source, this, copy, this.#incoming.isPaused)
    this.#incoming.source = first
    copy.#incoming.source = second
    return copy
  }

  /** Moves the content to a new body. This one counts as used from then on. */
  handOver(): Body {
    if (this.#isForeign) {
      const taken = Body.streamed(proxyOf(this.#stream!))
      this.#state = STREAMED
      return taken
    }
    // The stream stays with this body.
    this.#takeBack()
    const taken = new Body(this.#origin, null, this.#expected)
    taken.#state = this.#state
    taken.#shared = this.#shared
    taken.#incoming = this.#incoming
    taken.#incoming.source?.deliverTo(taken)
    this.#incoming = new Incoming<BodyFeed>(null, HIGH_WATER_MARK)
    this.#end()
    return taken
  }

  /** Gives up a body that is no longer wanted. */
  cancel(reason: unknown): void {
    const stream = this.#stream
    if (stream !== null && this.#controller === null) {
      if (!stream.locked) stream.cancel(reason).catch(ignoreError)
      return
    }
    this.fail(reason)
    this.#incoming.cancel(reason)
  }

  receive(chunk: Buffer): void {
    const incoming = this.#incoming
    const state = this.#state
    if (incoming.isComplete || chunk.byteLength === 0) return
    if (state.kind === 'collecting') {
      state.bytes.add(chunk)
    } else if (this.#pulled && incoming.size === 0) {
      this.#pulled = false
      this.#enqueue(chunk)
    } else if (state.kind === 'held' || state.kind === 'streaming') {
      incoming.add(chunk)
      incoming.hold()
    }
  }

  receiveLent(memory: Buffer, start: number, end: number): void {
    const incoming = this.#incoming
    const state = this.#state
    if (incoming.isComplete) return
    if (state.kind === 'collecting') {
      state.bytes.addLent(memory, start, end)
    } else if (state.kind === 'held' && start < end) {
      incoming.addLent(memory, start, end, this.#expected)
      incoming.hold()
    } else {
      // A waiting reader gets memory of its own.
      this.receive(this.#pulled ? ownBytes(memory, start, end) : holdBytes(memory, start, end))
    }
  }

  complete(): void {
    if (this.#incoming.isComplete) return
    this.#incoming.complete()
    if (this.#state.kind === 'collecting') this.#finish()
    else if (this.#state.kind === 'streaming' && this.#incoming.size === 0) this.#close()
  }

  fail(error: unknown): void {
    const state = this.#state
    if (state.kind === 'ended' || state.kind === 'failed') return
    const isUnused = state.kind !== 'collecting'
    this.#state = { kind: 'failed', reason: error, isLoud: false, isUnused }
    this.#incoming.clear()
    this.#pulled = false
    if (state.kind === 'collecting') state.collector.reject(error)
    else if (state.kind === 'streaming') this.#controller?.error(error)
  }

  /** A reader wants a chunk from the stream. */
  #onPull(): void {
    if (this.#state.kind !== 'streaming') return
    const origin = this.#origin
    if (isWhole(origin)) {
      this.#origin = null
      this.#enqueue(bytesOf(origin))
      this.#close()
      return
    }
    if (origin !== null) this.#startReading(origin.chunks())
    const chunk = this.#incoming.shift()
    if (chunk === undefined) this.#pulled = true
    else this.#enqueue(chunk)
    if (chunk !== undefined && this.#isEmpty()) this.#close()
    else this.#incoming.demand()
  }

  #onCancel(reason: unknown): void {
    if (this.#state.kind !== 'streaming') return
    this.#end()
    this.#incoming.clear()
    this.#incoming.cancel(reason)
  }

  /** Whether it is the caller's stream. */
  get #isForeign(): boolean {
    return this.#state.kind === 'streaming' && this.#controller === null
  }

  #startReading(chunks: AsyncIterable<unknown>): void {
    this.#incoming.source = new IterableFeed(chunks, this)
    this.#origin = null
  }

  /** Whether there is nothing to read, now or later. */
  #isEmpty(): boolean {
    const origin = this.#origin
    if (isWhole(origin)) return origin.length === 0
    return this.#incoming.isComplete && this.#incoming.size === 0
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
    this.#incoming.spent()
  }

  #end(): void {
    this.#state = STREAMED
    this.#origin = null
    this.#pulled = false
  }

  /** Converts a complete body. */
  #convert<T>(bytes: BodyBytes, convert: Conversion<T>, describe: Describe | null): Promise<T> {
    this.#end()
    this.#incoming.spent()
    try {
      return Promise.resolve(convertBytes(bytes, convert, NO_CONTEXT))
    } catch (error) {
      describe?.(error, bytes)
      return Promise.reject(error)
    }
  }

  #gather<T>(convert: Conversion<T>, describe: Describe | null): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const bytes = this.#incoming.take()
      this.#state = { kind: 'collecting', collector: { convert, resolve, reject, describe }, bytes }
      if (!this.#incoming.isComplete) {
        bytes.expect(this.#expected, isDecoding(convert))
        this.#incoming.demand()
        return
      }
      // An abort in the same turn still rejects: in the standard, it errors the stream that is read.
      queueMicrotask(() => this.#finish())
    })
  }

  #finish(): void {
    const state = this.#state
    if (state.kind !== 'collecting') return
    this.#end()
    this.#incoming.spent()
    const { convert, resolve, reject, describe } = state.collector
    try {
      resolve(convertBytes(state.bytes, convert, NO_CONTEXT) as never)
    } catch (error) {
      describe?.(error, state.bytes)
      reject(error)
    }
  }

  #collectForeign<T>(convert: Conversion<T>): Promise<T> {
    const bytes = BodyBytes.none()
    const collected = collectStream(this.#stream!, (chunk) => bytes.add(chunk))
    this.#state = STREAMED
    return collected.then(() => convert(bytes, NO_CONTEXT))
  }

  /** Takes the content back from our stream, which has not been read. The stream stays locked. */
  #takeBack(): void {
    if (this.#stream === null || this.#state.kind === 'failed') return
    this.#stream.getReader()
    this.#state = HELD
  }
}
