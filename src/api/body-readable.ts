/**
 * The body of a response: a Readable that does not run until somebody streams it. Chunks that arrive are held;
 * `text()` and its like, and iterators, take them as they are, because running a stream costs more than ten times
 * as much. Whoever reads, puts back or pushes makes it run: from then on it is a Readable that all these chunks were
 * pushed to. Knows its request only as a {@link BodySource}.
 *
 * A failure ends the process only where somebody threw: who reads is told, `errored` tells who asks, and a body that
 * nobody asks about fails quietly.
 */
import type { Blob } from 'node:buffer'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { ignoreError } from '../base/ignore-error.ts'
import { AbortError, InvalidArgumentError, NotSupportedError, RequestAbortedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import {
  announcedLength,
  BodyCollector,
  bytesOf,
  type CollectContext,
  type Collector,
  type Conversion,
  GatheredBytes,
  toArrayBuffer,
  toBlob,
  toBytes,
  toJson,
  toText,
} from './body-collect.ts'
import { discardStream, dumpLimit } from './body-dump.ts'
import { BodyIterator } from './body-iterator.ts'
import type { BodyMixin, DumpOptions } from './body-mixin.ts'
import { type BodySource, NO_SOURCE } from './body-source.ts'
import type { Failure, Use } from './body-state.ts'
import { webStreamOf } from './body-web-stream.ts'
import { SleepingReadable } from './sleeping-readable.ts'

const RESOLVED = Promise.resolve()

/** Nothing has arrived. */
const NOTHING: Buffer[] = []

/** The body of a response: a Readable, with the methods of a web body beside. */
export class BodyReadable extends SleepingReadable implements BodyMixin {
  #source: BodySource
  readonly #headers: HeaderObject
  readonly #isHead: boolean
  /**
   * Arrived and not taken. While the stream runs it has these chunks too, and a collection may still want them as
   * they came; null when there is nothing left to collect.
   */
  #held: Buffer[] | null = NOTHING
  #heldBytes = 0
  /** Of the held pieces, those that an iterator has got. */
  #handedOut = 0
  /** All has arrived. */
  #complete = false
  #paused = false
  #use: Use = 'none'
  /** Of a collection that waits for more than had arrived. */
  #collector: Collector | null = null
  /** Bytes that may still come while the body is `dumping`. */
  #dumpRoom = 0
  #failure: Failure | null = null
  #encoding: BufferEncoding | null = null
  #web: ReadableStream<Uint8Array> | null = null

  constructor(source: BodySource, headers: HeaderObject, highWaterMark: number, isHead: boolean) {
    super(highWaterMark)
    this.#source = source
    this.#headers = headers
    this.#isHead = isHead
  }

  /** True once data was read or collected. */
  get bodyUsed(): boolean {
    return (this.#use !== 'none' && this.#use !== 'asked') || Readable.isDisturbed(this)
  }

  /** What can be read at once: bytes, or characters of the encoding. */
  override get readableLength(): number {
    return this.isRunning ? super.readableLength : this.#heldBytes
  }

  /** The same bytes as a web stream; made when first asked for. Locked when the body is consumed otherwise. */
  get body(): ReadableStream<Uint8Array> {
    if (this.#web === null) {
      this.#web = webStreamOf(this)
      if (this.#use !== 'none') this.#web.getReader()
    }
    return this.#web
  }

  /** The whole body as text: UTF-8 without its byte order mark, or what `setEncoding` asked for. */
  text(): Promise<string> {
    return this.#collect(toText)
  }

  /** The whole body, parsed. */
  json(): Promise<unknown> {
    return this.#collect(toJson)
  }

  /** The whole body in memory of its own. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#collect(toBytes)
  }

  /** The whole body in memory of its own. */
  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#collect(toArrayBuffer)
  }

  /** The whole body as a Blob with the response's content type. */
  blob(): Promise<Blob> {
    return this.#collect(toBlob)
  }

  /** Not supported: parsing form data from a peer belongs to `fetch`. */
  formData(): Promise<never> {
    return Promise.reject(new NotSupportedError())
  }

  /** Ignored for a name that is no encoding. */
  override setEncoding(encoding: BufferEncoding): this {
    if (!Buffer.isEncoding(encoding)) return this
    this.#encoding = encoding
    return super.setEncoding(encoding)
  }

  /**
   * Discards the body so that its connection can be used again; resolves when the body is closed. One that
   * turns out longer than `limit` is destroyed, which closes an HTTP/1.1 connection.
   *
   * @example
   * const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
   * await body.dump()
   */
  dump(opts?: DumpOptions): Promise<null> {
    const signal = opts?.signal ?? null
    if (signal !== null && (typeof signal !== 'object' || !('aborted' in signal))) {
      return Promise.reject(new InvalidArgumentError('signal must be an AbortSignal'))
    }
    if (signal?.aborted) return Promise.reject(signal.reason ?? new AbortError())
    const limit = dumpLimit(opts)
    if (signal === null && this.#drop(limit)) return Promise.resolve(null)
    if (this.closed) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.destroy((signal?.reason ?? new AbortError()) as Error)
      }
      this.once('close', () => {
        signal?.removeEventListener('abort', onAbort)
        if (signal?.aborted) reject(signal.reason ?? new AbortError())
        else resolve(null)
      })
      signal?.addEventListener('abort', onAbort)
      this.#discard(limit)
    })
  }

  /** The pieces as they came. Leaving before the end destroys the body. */
  override [Symbol.asyncIterator](): ReturnType<Readable[typeof Symbol.asyncIterator]> {
    return new BodyIterator({
      take: () => this.#take(),
      leave: (reason) => this.destroy(reason),
      stream: () => super[Symbol.asyncIterator](),
    })
  }

  /** Destroys a body that was not consumed, and waits for it to close. */
  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return
    const closed = new Promise((resolve) => this.once('close', resolve))
    const collected = this.#complete && !this.isRunning && this.#isCollected()
    if (!this.readableEnded && !collected) this.destroy()
    await closed
  }

  /** Puts back what is to be read, or collected, before all else. */
  override unshift(chunk: unknown, encoding?: BufferEncoding): void {
    const result = super.unshift(chunk, encoding)
    const bytes = bytesOf(chunk, encoding)
    if (this.#held !== null && bytes !== null) {
      this.#held = [bytes, ...this.#held]
      this.#heldBytes += bytes.length
    }
    // The runtime tells whether there is room for more; its types do not say so.
    // biome-ignore lint/correctness/noVoidTypeReturn: see above.
    return result
  }

  /** Whether nothing is left that an abort could take away. */
  get spent(): boolean {
    if (!this.#complete || this.isRunning) return false
    return this.#heldBytes === 0 || this.#isCollected()
  }

  /** A piece of the body has come. */
  receive(chunk: Buffer): void {
    if (this.destroyed || this.#complete || chunk.length === 0) return
    if (this.#use === 'dumping') {
      this.noteRead()
      this.#dumpRoom -= chunk.length
      if (this.#dumpRoom < 0) this.destroy(new AbortError())
      return
    }
    if (this.#use === 'collecting') {
      this.noteRead()
      this.#collector?.gathered.add(chunk)
      if (this.isRunning) this.#give(chunk)
      return
    }
    // Until the first read a collection may still begin, and it wants all there was.
    if (this.isRunning && this.#use === 'none' && this.readableDidRead) this.#held = null
    else this.#hold(chunk)
    if (this.isRunning) {
      if (!this.#give(chunk)) this.#pause()
    } else if (this.#heldBytes >= this.readableHighWaterMark && this.#use === 'none') {
      this.#pause()
    }
  }

  /** What a listener of the data throws is for its program to see, and the end of this body. */
  #give(chunk: Buffer): boolean {
    try {
      return this.push(chunk)
    } catch (thrown) {
      this.#failure ??= { reason: thrown, isLoud: this.#use === 'none' }
      this.destroy(thrown as Error)
      return true
    }
  }

  /** Most bodies are one chunk: an array made for it is smaller than one that grew. */
  #hold(chunk: Buffer): void {
    this.#heldBytes += chunk.length
    if (this.#held === NOTHING) this.#held = [chunk]
    else this.#held?.push(chunk)
  }

  /** What was held has gone where it was wanted. */
  #letGoOfHeld(): void {
    if (this.#heldBytes > 0) this.noteRead()
    this.#held = null
    this.#heldBytes = 0
  }

  /** All of the body has come. */
  complete(): void {
    if (this.destroyed || this.#complete) return
    this.#complete = true
    if (this.isRunning) this.push(null)
    if (this.#use === 'collecting') this.#finish()
    else if (this.#use === 'dumping') this.#endAsleep()
  }

  /** The request failed; any reason will do, also one that a stream would not take for an error. */
  fail(error: unknown): void {
    if (this.destroyed) return
    this.#failure ??= { reason: error, isLoud: false }
    this.destroy(error as Error)
  }

  override _read(): void {
    this.#resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error !== null || !this.readableEnded) {
      this.#failure ??= { reason: error ?? new RequestAbortedError(), isLoud: false }
    }
    this.#held = null
    this.#heldBytes = 0
    if (this.#failure === null) {
      this.#closeSource()
      callback(null)
      return
    }
    const { isLoud } = this.#failure
    const reason = this.#failure.reason as Error
    this.#collector?.fail(reason)
    if (!this.#complete) this.#source.abortBody(reason)
    this.#closeSource()
    const tell = (): void => {
      // Nobody has to listen: it is told to all who read, now or later. In the tick before that of the `error` event,
      // so that whoever takes all listeners off does not take this one.
      if (!isLoud) process.nextTick(() => this.on('error', ignoreError))
      callback(reason)
    }
    // Who waits for the promise of the response gets it a microtask later, and must have the time to listen.
    if (this.#use === 'none' && !this.isRunning) setImmediate(tell)
    else tell()
  }

  #collect<T>(convert: Conversion<T>): Promise<T> {
    if (this.#failure !== null) return Promise.reject(this.#failure.reason)
    if (this.#isUsed()) return Promise.reject(new TypeError('unusable'))
    this.#web?.getReader()
    this.#use = 'asked'
    if (this.#complete && !this.isRunning) return RESOLVED.then(() => this.#convertHeld(convert))
    const answer = this.#gather(convert)
    // `queueMicrotask` makes an AsyncResource for each.
    void RESOLVED.then(() => this.#begin())
    return answer
  }

  #isUsed(): boolean {
    return this.#use !== 'none' || this.readableDidRead || this.#web?.locked === true
  }

  #isCollected(): boolean {
    return this.#use === 'collecting' || this.#use === 'collected'
  }

  /** All has arrived, is as it came, and no stream has to run for it. */
  #isAtHand(): boolean {
    return this.#complete && !this.isRunning && this.#failure === null && !this.destroyed
  }

  /** For an iterator: the next piece; undefined at the end; null where it has to read the stream. */
  #take(): Buffer | undefined | null {
    if (this.#use === 'iterating') {
      if (this.#failure !== null) throw this.#failure.reason
      if (this.destroyed) return undefined
      if (this.isRunning) return null
    } else {
      if (!this.#isAtHand() || this.#isUsed()) return null
      this.#web?.getReader()
      this.#use = 'iterating'
    }
    const chunk = this.#held?.[this.#handedOut++]
    if (chunk !== undefined) {
      this.noteRead()
      this.#heldBytes -= chunk.length
    }
    // As a stream does, it ends with its last piece: whoever asks for no more has not left it early.
    if (this.#heldBytes === 0) this.#afterAnswer()
    return chunk
  }

  #gather<T>(convert: Conversion<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#collector = new BodyCollector(convert, resolve, reject)
    })
  }

  /** All has arrived before it was asked for, as with most small bodies. */
  #convertHeld<T>(convert: Conversion<T>): T | Promise<T> {
    if (this.#failure !== null) throw this.#failure.reason
    if (this.isRunning) {
      const answer = this.#gather(convert)
      this.#begin()
      return answer
    }
    const gathered = new GatheredBytes(this.#held ?? NOTHING, this.#heldBytes)
    this.#use = 'collected'
    this.#letGoOfHeld()
    try {
      return convert(gathered, this.#context())
    } catch (error) {
      this.fail(error)
      throw error
    } finally {
      this.#afterAnswer()
    }
  }

  #begin(): void {
    const collector = this.#collector
    if (collector === null || this.#failure !== null) return
    this.#use = 'collecting'
    const held = this.#unread()
    if (!this.#complete) collector.gathered.expect(announcedLength(this.#headers, this.#isHead) ?? 0)
    for (const chunk of held) collector.gathered.add(chunk)
    this.#letGoOfHeld()
    // The stream has the same bytes, and comes to its end only if somebody takes them from it.
    if (this.isRunning && this.readableFlowing !== true) this.resume()
    if (this.#complete) this.#finish()
    else this.#resume()
  }

  /** What was held, but for what somebody has read since the collection was asked for. Who listens takes nothing away. */
  #unread(): readonly Buffer[] {
    const held = this.#held ?? NOTHING
    if (!this.isRunning || this.#encoding !== null || this.listenerCount('data') > 0) return held
    const taken = this.#heldBytes - super.readableLength
    return taken > 0 ? [Buffer.concat(held).subarray(taken)] : held
  }

  #finish(): void {
    // Listeners see all data before the promise does, as they are of the same stream.
    if (this.isRunning && this.readableFlowing && !this.readableEnded && !this.destroyed) {
      this.once('end', () => this.#answer())
      return
    }
    this.#answer()
  }

  #answer(): void {
    try {
      this.#collector?.finish(this.#context())
    } catch (error) {
      this.fail(error)
      return
    }
    this.#use = 'collected'
    this.#collector = null
    this.#afterAnswer()
  }

  #context(): CollectContext {
    const contentType = this.#headers['content-type']
    return {
      encoding: this.#encoding,
      contentType: (Array.isArray(contentType) ? contentType[0] : contentType) ?? '',
    }
  }

  #afterAnswer(): void {
    if (this.#failure !== null) return
    this.#closeSource()
    if (!this.isRunning) this.#endAsleep()
  }

  #closeSource(): void {
    const source = this.#source
    this.#source = NO_SOURCE
    source.bodyClosed()
  }

  #endAsleep(): void {
    this.#heldBytes = 0
    if (!this.destroyed) this.endAsleep()
  }

  protected override onRun(): void {
    const held = this.#held ?? NOTHING
    for (let i = this.#handedOut; i < held.length; i++) this.push(held[i])
    if (this.#complete) this.push(null)
  }

  /** Dumps what has arrived as a whole, where nobody listens and nothing can fail. */
  #drop(limit: number): boolean {
    if (this.isListenedTo() || !this.#isAtHand() || this.#isUsed()) return false
    if ((announcedLength(this.#headers, this.#isHead) ?? this.#heldBytes) > limit) return false
    this.#use = 'dumped'
    this.#letGoOfHeld()
    this.#closeSource()
    this.#endAsleep()
    return true
  }

  #discard(limit: number): void {
    if (this.#use !== 'none' && this.#use !== 'iterating') return
    this.#use = 'dumped'
    const length = announcedLength(this.#headers, this.#isHead)
    if (length !== null && length > limit) {
      this.destroy(new AbortError())
    } else if (this.isRunning) {
      discardStream(this, limit)
    } else {
      this.#dumpRoom = limit - this.#heldBytes
      this.#letGoOfHeld()
      if (this.#dumpRoom < 0) this.destroy(new AbortError())
      else if (this.#complete) this.#afterAnswer()
      else {
        this.#use = 'dumping'
        this.#resume()
      }
    }
  }

  #pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#source.pauseBody()
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resumeBody()
  }
}
