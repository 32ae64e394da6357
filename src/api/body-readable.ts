/**
 * The body of a response: a Readable that stays asleep until somebody streams it. Chunks that arrive are
 * held; `text()` and its like take them as they are, because running a stream costs more than ten times as
 * much as collecting; the first `_read`, which Node calls only for a real consumer, wakes the stream
 * (contract: dispatcher.md §7.1). Knows its request only as a {@link BodySource}.
 */
import type { Blob } from 'node:buffer'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { AbortError, InvalidArgumentError, NotSupportedError, RequestAbortedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import {
  BodyCollector,
  type CollectContext,
  type Collector,
  type Conversion,
  GatheredBytes,
  NOTHING_GATHERED,
  toArrayBuffer,
  toBlob,
  toBytes,
  toJson,
  toText,
} from './body-collect.ts'
import { BodyIterator } from './body-iterator.ts'
import type { BodyMixin, DumpOptions } from './body-mixin.ts'
import { webStreamOf } from './body-web-stream.ts'
import { ignoreError } from './request-body.ts'
import { SleepingReadable } from './sleeping-readable.ts'

/** Bytes that `dump()` reads to save the connection; beyond, a new connection is cheaper. */
const DEFAULT_DUMP_LIMIT = 131_072

/** The request, as its body needs it. */
export interface BodySource {
  pauseBody(): void
  resumeBody(): void
  /** The body was destroyed before all of it had come. */
  abortBody(error: unknown): void
  /** The body is consumed or destroyed. */
  bodyClosed(): void
}

const RESOLVED = Promise.resolve()

/** The source of a body that is closed: the request and its promise need not live as long as the response does. */
const NO_SOURCE: BodySource = { pauseBody() {}, resumeBody() {}, abortBody() {}, bodyClosed() {} }

/** Nothing has arrived. */
const NOTHING: Buffer[] = []

/** Of a body that is or was collected from what had arrived: it is used up, and gathers nothing. */
const COLLECTED: Collector = { gathered: NOTHING_GATHERED, finish() {}, fail() {} }

/** The body of a response: a Readable, with the methods of a web body beside. */
export class BodyReadable extends SleepingReadable implements BodyMixin {
  #source: BodySource
  readonly #headers: HeaderObject
  readonly #isHead: boolean
  /** Arrived and not handed on; null once the stream runs and something was read from it. */
  #held: Buffer[] | null = NOTHING
  #heldBytes = 0
  #complete = false
  #streaming = false
  #paused = false
  #collector: Collector | null = null
  /** False until the microtask after `text()`, which may still find listeners attached after the call. */
  #collecting = false
  /** Bytes `dump()` may still take; null when the body is not dumped asleep. */
  #dumpRoom: number | null = null
  #dumped = false
  #failed = false
  #error: unknown = null
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
    return this.#collecting || this.#dumped || Readable.isDisturbed(this)
  }

  /** The same bytes as a web stream; made when first asked for. Locked when the body is consumed otherwise. */
  get body(): ReadableStream<Uint8Array> {
    if (this.#web === null) {
      this.#web = webStreamOf(this)
      if (this.#collector !== null || this.#dumped) this.#web.getReader()
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
    const limit = Number.isFinite(opts?.limit) && opts?.limit ? opts.limit : DEFAULT_DUMP_LIMIT
    if (signal === null && this.#drop(limit)) return Promise.resolve(null)
    if (this.closed) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.destroy((signal?.reason ?? new AbortError()) as Error)
      }
      this.#muteErrors()
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
      take: (reader) => this.#takeAll(reader),
      end: () => this.#afterAnswer(),
      leave: () => this.destroy(),
      stream: () => super[Symbol.asyncIterator](),
    })
  }

  /** Destroys a body that was not consumed, without an `error` event, and waits for it to close. */
  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return
    const closed = new Promise((resolve) => this.once('close', resolve))
    const collected = this.#collecting && this.#complete && !this.#streaming && !this.#isIterated()
    if (!this.readableEnded && !collected) {
      this.#muteErrors()
      this.destroy()
    }
    await closed
  }

  /** Whether nothing is left that an abort could take away. */
  get spent(): boolean {
    if (!this.#complete || this.#streaming) return false
    return this.#collecting || this.#heldBytes === 0
  }

  /** A piece of the body has come. */
  receive(chunk: Buffer): void {
    if (this.destroyed || this.#complete || chunk.length === 0) return
    if (this.#dumpRoom !== null) {
      this.#dumpRoom -= chunk.length
      if (this.#dumpRoom < 0) this.destroy(new AbortError())
      return
    }
    if (this.#collecting) {
      this.#collector?.gathered.add(chunk)
      if (this.#streaming) this.push(chunk)
      return
    }
    if (!this.#streaming) {
      this.#hold(chunk)
      this.#heldBytes += chunk.length
      if (this.#heldBytes >= this.readableHighWaterMark && this.#collector === null) this.#pause()
      return
    }
    // Until the first read a collection may still begin, and it wants all there was.
    if (this.#collector === null && this.readableDidRead) this.#held = null
    else this.#hold(chunk)
    if (!this.push(chunk)) this.#pause()
  }

  /** Most bodies are one chunk: an array made for it is smaller than one that grew. */
  #hold(chunk: Buffer): void {
    if (this.#held === NOTHING) this.#held = [chunk]
    else this.#held?.push(chunk)
  }

  /** All of the body has come. */
  complete(): void {
    if (this.destroyed || this.#complete) return
    this.#complete = true
    if (this.#streaming) this.push(null)
    if (this.#collecting) this.#finish()
    else if (this.#dumpRoom !== null) this.#endAsleep()
  }

  /** The request failed; any reason will do, also one that a stream would not take for an error. */
  fail(error: unknown): void {
    if (this.destroyed) return
    this.#failed = true
    this.#error = error
    this.destroy(error as Error)
  }

  override _read(): void {
    if (!this.#streaming) this.#wake()
    this.#resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#failed && (error !== null || !this.readableEnded)) {
      this.#failed = true
      this.#error = error ?? new RequestAbortedError()
    }
    this.#held = null
    this.#heldBytes = 0
    if (!this.#failed) {
      this.#closeSource()
      callback(null)
      return
    }
    const reason = this.#error as Error
    const collector = this.#collector
    if (collector !== null) {
      // Whoever collects is told by the promise, and need not listen for errors.
      this.#muteErrors()
      collector.fail(reason)
    }
    if (!this.#complete) this.#source.abortBody(reason)
    this.#closeSource()
    // Who waits for the promise of the response gets it a microtask later, and must have the time to listen.
    if (collector === null && !this.#dumped && !this.#hasReaders()) setImmediate(callback, reason)
    else callback(reason)
  }

  #collect<T>(convert: Conversion<T>): Promise<T> {
    if (this.#failed) {
      this.#muteErrors()
      return Promise.reject(this.#error)
    }
    if (this.#isUsed()) return Promise.reject(new TypeError('unusable'))
    this.#web?.getReader()
    // Not before the next microtask: who attaches listeners after the call wants them to be told.
    if (this.#complete && !this.#streaming) {
      this.#collector = COLLECTED
      return RESOLVED.then(() => this.#convertHeld(convert))
    }
    const answer = this.#gather(convert)
    // `queueMicrotask` makes an AsyncResource for each.
    void RESOLVED.then(() => this.#begin())
    return answer
  }

  #isUsed(): boolean {
    return this.#collector !== null || this.#dumped || this.readableDidRead || this.#web?.locked === true
  }

  /** All has arrived, is as it came, and nobody has begun to read it. */
  #isUntouched(): boolean {
    if (!this.#complete || this.#failed || this.destroyed) return false
    return !this.#isUsed() && !this.#hasReaders() && this.#encoding === null && this.readableLength === 0
  }

  /** All of it was taken by an iterator. */
  #isIterated(): boolean {
    return this.#collector instanceof BodyIterator
  }

  #takeAll(reader: Collector): readonly Buffer[] | null {
    if (!this.#isUntouched()) return null
    this.#web?.getReader()
    this.#collector = reader
    this.#collecting = true
    const chunks = this.#held ?? NOTHING
    this.#held = null
    return chunks
  }

  #gather<T>(convert: Conversion<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#collector = new BodyCollector(convert, resolve, reject)
    })
  }

  /** All has arrived before it was asked for, as with most small bodies. */
  #convertHeld<T>(convert: Conversion<T>): T | Promise<T> {
    if (this.#failed) throw this.#error
    if (this.#hasReaders()) {
      const answer = this.#gather(convert)
      this.#begin()
      return answer
    }
    this.#collecting = true
    const gathered = new GatheredBytes(this.#held ?? NOTHING, this.#heldBytes)
    this.#held = null
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
    if (collector === null || this.#failed) return
    this.#collecting = true
    if (!this.#streaming && this.#hasReaders()) this.#wake()
    const held = this.#held ?? []
    this.#held = null
    if (!this.#complete) collector.gathered.expect(this.#contentLength() ?? 0)
    for (const chunk of held) collector.gathered.add(chunk)
    if (this.#complete) this.#finish()
    else this.#resume()
  }

  #finish(): void {
    // Listeners see all data before the promise does, as they are of the same stream.
    if (this.#streaming && this.readableFlowing && !this.readableEnded && !this.destroyed) {
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
    this.#collector = COLLECTED
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
    if (this.#failed) return
    this.#closeSource()
    if (!this.#streaming) this.#endAsleep()
  }

  #closeSource(): void {
    const source = this.#source
    this.#source = NO_SOURCE
    source.bodyClosed()
  }

  #endAsleep(): void {
    this.#heldBytes = 0
    if (!this.destroyed) this.endAsleep(this.#hasReaders())
  }

  #wake(): void {
    this.#streaming = true
    this.#heldBytes = 0
    for (const chunk of this.#held ?? []) this.push(chunk)
    if (this.#complete) this.push(null)
  }

  /** Dumps what has arrived as a whole, where nobody listens and nothing can fail. */
  #drop(limit: number): boolean {
    if (this.isListenedTo() || !this.#isUntouched() || (this.#contentLength() ?? this.#heldBytes) > limit)
      return false
    this.#dumped = true
    this.#held = null
    this.#closeSource()
    this.#endAsleep()
    return true
  }

  #discard(limit: number): void {
    // Who iterates has all of it already, and may never ask for the rest.
    if (this.#isIterated()) this.#afterAnswer()
    if (this.#collector !== null) return
    this.#dumped = true
    const length = this.#contentLength()
    if (length !== null && length > limit) {
      this.destroy(new AbortError())
    } else if (this.#streaming || this.#hasReaders()) {
      this.#discardRunning(limit)
    } else {
      this.#dumpRoom = limit - this.#heldBytes
      this.#held = null
      this.#heldBytes = 0
      if (this.#dumpRoom < 0) this.destroy(new AbortError())
      else if (this.#complete) this.#endAsleep()
      else this.#resume()
    }
  }

  #discardRunning(limit: number): void {
    let room = limit
    this.on('data', (chunk: Buffer | string) => {
      room -= typeof chunk === 'string' ? Buffer.byteLength(chunk, this.#encoding ?? 'utf8') : chunk.length
      if (room < 0) this.destroy(new AbortError())
    })
    this.resume()
  }

  /** For an error that somebody is told of in another way. */
  #muteErrors(): void {
    if (this.listenerCount('error', ignoreError) === 0) this.on('error', ignoreError)
  }

  #hasReaders(): boolean {
    if (this.#streaming || this.readableFlowing !== null) return true
    return this.isListenedTo() && this.listenerCount('readable') > 0
  }

  /** What the head announced; null when unknown, and for HEAD, whose announcement is of another body. */
  #contentLength(): number | null {
    const value = this.#headers['content-length']
    if (this.#isHead || typeof value !== 'string') return null
    const length = Number(value)
    return Number.isSafeInteger(length) ? length : null
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
