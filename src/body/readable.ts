/**
 * The body of a response, and its consumers: `text()` and its siblings, iterators and `dump()` take the
 * chunks that are held, without running the stream. `read()`, `unshift()` and `push()` start it: from then on
 * it is a Readable to which all these chunks were pushed.
 */
import type { Blob } from 'node:buffer'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { placeOrigin } from '../base/address/place-origin.ts'
import type { BodyBytes } from '../base/bytes/body-bytes.ts'
import { AbortError, NotSupportedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { ArrivingBody } from './arriving.ts'
import {
  announcedLength,
  type CollectContext,
  type Collector,
  type Conversion,
  convertBytes,
  isDecoding,
  toArrayBuffer,
  toBlob,
  toBytes,
  toJson,
  toText,
} from './collect.ts'
import { describeContent } from './content-error.ts'
import { type DumpOptions, dumped, dumpLimit, dumpSignal, emptyStream } from './dump.ts'
import type { BodySource } from './incoming.ts'
import { BodyIterator, type Taken } from './iterate.ts'
import { ASKED, type BodyState, EMPTYING, ITERATING, STREAMED, UNANNOUNCED } from './state.ts'
import { webStreamOf } from './web-stream.ts'

const RESOLVED = Promise.resolve()

const USED: ReadonlySet<BodyState['kind']> = new Set(['collecting', 'iterating', 'dumping', 'ended'])

type MixinName = 'bodyUsed' | 'body' | 'text' | 'json' | 'bytes' | 'arrayBuffer' | 'blob' | 'formData'

/** The ways to get a whole body. */
export interface BodyMixin extends Pick<BodyReadable, MixinName> {}

/** The body of a response: a Readable that also has the methods of a web body. */
export class BodyReadable extends ArrivingBody {
  readonly #headers: HeaderObject
  readonly #isHead: boolean
  /** Of the response, for errors about its content. */
  readonly #statusCode: number
  readonly #path: string
  /** The origin of the request, or the dispatcher that has one. */
  readonly #place: unknown
  #web: ReadableStream<Uint8Array> | null = null

  constructor(
    source: BodySource,
    headers: HeaderObject,
    highWaterMark: number,
    isHead: boolean,
    statusCode = 0,
    path = '',
    place: unknown = null,
  ) {
    super(source, highWaterMark)
    this.#headers = headers
    this.#isHead = isHead
    this.#statusCode = statusCode
    this.#path = path
    this.#place = place
  }

  /** True once data was read or collected. */
  get bodyUsed(): boolean {
    return USED.has(this.bodyState.kind) || Readable.isDisturbed(this)
  }

  /**
   * The same bytes as a web stream, created on first access. It is locked if the body is consumed otherwise.
   */
  get body(): ReadableStream<Uint8Array> {
    this.beginPipe()
    if (this.#web === null) {
      this.#web = webStreamOf(this)
      if (!this.isUntouched && this.bodyState.kind !== 'failed') this.#web.getReader()
    }
    return this.#web
  }

  /** The whole body as text: UTF-8 without its byte order mark, or in the encoding of `setEncoding`. */
  text(): Promise<string> {
    return this.#collect(toText)
  }

  /** The whole body, parsed; nothing checks that it is a `T`. */
  json<T = unknown>(): Promise<T> {
    return this.#collect(toJson) as Promise<T>
  }

  /** The whole body, in memory that is not shared. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#collect(toBytes)
  }

  /** The whole body, in memory that is not shared. */
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

  /**
   * Discards the body so that its connection can be used again; resolves when the body is closed. One that
   * turns out longer than `limit` is destroyed, which closes an HTTP/1.1 connection.
   *
   * @example
   * const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
   * await body.dump()
   */
  dump(opts?: DumpOptions): Promise<void>
  // It resolves with null, as in undici, whose types say void.
  async dump(opts?: DumpOptions): Promise<unknown> {
    this.beginPipe()
    const signal = dumpSignal(opts)
    const limit = dumpLimit(opts)
    if ((signal === null && this.#drop(limit)) || this.closed) return null
    // A caller that sets a limit or has a signal decides for itself how long it may take.
    const isTimed = !opts?.limit && signal === null
    return dumped(this, signal, isTimed, () => this.#discard(limit))
  }

  /**
   * The bytes in chunks; small chunks that have arrived are joined. Leaving before the end destroys the body.
   */
  override [Symbol.asyncIterator](): ReturnType<Readable[typeof Symbol.asyncIterator]> {
    return new BodyIterator({
      take: () => this.#take(),
      nextArrival: () => this.nextArrival(),
      // Aborted even if it had taken the last chunk, as in the runtime.
      leave: (reason) => super.destroy(reason),
      stream: () => super[Symbol.asyncIterator](),
    })
  }

  /** Takes the body away from its consumers. One that is over closes, like a stream after its end. */
  override destroy(error?: Error): this {
    if (this.bodyState !== UNANNOUNCED) return super.destroy(error)
    this.announceEnd()
    return this
  }

  /** Destroys a body that was not consumed, and waits for it to close. */
  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return
    const closed = new Promise((resolve) => this.once('close', resolve))
    if (!this.readableEnded) this.destroy()
    await closed
  }

  #isUsed(): boolean {
    return !this.isUntouched || this.readableDidRead || this.#web?.locked === true
  }

  protected override get isWhole(): boolean {
    return super.isWhole && this.#web === null
  }

  #collect<T>(convert: Conversion<T>): Promise<T> {
    this.beginPipe()
    const state = this.bodyState
    if (state.kind === 'failed') return Promise.reject(state.reason)
    if (this.#isUsed()) return Promise.reject(new TypeError('unusable'))
    this.#web?.getReader()
    this.enterState(ASKED)
    if (this.isAtHand) return RESOLVED.then(() => this.#convertHeld(convert))
    return this.#gather(convert)
  }

  #gather<T>(convert: Conversion<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // `queueMicrotask` makes an AsyncResource for each.
      void RESOLVED.then(() => this.#begin({ convert, resolve, reject }))
    })
  }

  /** Everything had arrived before the call, as with most small bodies. */
  #convertHeld<T>(convert: Conversion<T>): T | Promise<T> {
    const state = this.bodyState
    if (state.kind === 'failed') throw state.reason
    if (this.isRunning) return this.#gather(convert)
    const bytes = this.takeHeld()
    let converted: T
    try {
      converted = convertBytes(bytes, convert, this.#context())
    } catch (error) {
      this.#describe(error, bytes)
      this.fail(error)
      throw error
    }
    this.endBody()
    return converted
  }

  #begin(collector: Collector): void {
    const state = this.bodyState
    if (state.kind === 'failed') {
      collector.reject(state.reason)
      return
    }
    this.#dropRead()
    const bytes = this.takeHeld()
    this.enterState({ kind: 'collecting', collector, bytes })
    if (!this.incoming.isComplete) bytes.expect(this.announced ?? 0, isDecoding(collector.convert))
    // A running stream has the same bytes, and ends only if they are read from it.
    if (this.isRunning && this.readableFlowing !== true) this.resume()
    if (this.incoming.isComplete) this.onCollected()
    else this.incoming.resume()
  }

  /**
   * Removes the bytes that were read from the stream after the call of `text()` or a sibling. Data that went
   * to a listener still counts.
   */
  #dropRead(): void {
    if (!this.isRunning || this.readableEncoding !== null || this.listenerCount('data') > 0) return
    this.incoming.drop(this.heldLength - this.readableLength)
  }

  protected override onCollected(): void {
    // Listeners get all data before the promise resolves, as they listen to the same stream.
    if (this.isRunning && this.readableFlowing && !this.readableEnded && !this.destroyed) {
      this.once('end', () => this.#answer())
    } else {
      this.#answer()
    }
  }

  #answer(): void {
    const state = this.bodyState
    if (state.kind !== 'collecting') return
    const { convert, resolve, reject } = state.collector
    try {
      resolve(convertBytes(state.bytes, convert, this.#context()) as never)
    } catch (error) {
      this.#describe(error, state.bytes)
      reject(error)
      this.fail(error)
      // A stream that is closed already cannot fail.
      if (this.bodyState.kind === 'failed') return
    }
    if (this.isRunning) {
      this.incoming.spent()
      this.enterState(STREAMED)
    } else {
      this.endBody()
    }
  }

  protected override get announced(): number | null {
    return announcedLength(this.#headers, this.#isHead)
  }

  #context(): CollectContext {
    return { encoding: this.readableEncoding, contentType: this.#contentType }
  }

  get #contentType(): string {
    const contentType = this.#headers['content-type']
    return (Array.isArray(contentType) ? contentType[0] : contentType) ?? ''
  }

  #describe(error: unknown, bytes: BodyBytes): void {
    const statusCode = this.#statusCode
    const contentType = this.#contentType
    try {
      const url = this.#path.startsWith('/') ? `${placeOrigin(this.#place)}${this.#path}` : this.#path
      if (statusCode !== 0) describeContent(error, bytes.view(), { url, statusCode, contentType })
    } catch {
      // Another dispatcher may have taken any origin and path.
    }
  }

  /** For an iterator. */
  #take(): Taken {
    this.beginPipe()
    const state = this.bodyState
    if (state.kind === 'failed') throw state.reason
    if (this.isOver) return 'end'
    if (state.kind === 'held') {
      if (this.#isUsed()) return 'streamed'
      this.#web?.getReader()
      this.enterState(ITERATING)
    } else if (state.kind === 'dumping' && state.room !== null) {
      return 'later'
    } else if (state.kind !== 'iterating') {
      return 'streamed'
    }
    const chunk = this.shiftHeld()
    // Meanwhile more may have arrived, or the body may have failed.
    const isLast = this.incoming.isComplete && this.heldLength === 0 && this.bodyState.kind === 'iterating'
    if (!isLast) return chunk ?? 'later'
    // As with a stream, the last chunk ends the body: an iterator that stops here has not left early.
    this.endBody()
    return chunk ?? 'end'
  }

  /** Dumps a body that has arrived at once, if nobody listens for its end and it cannot fail. */
  #drop(limit: number): boolean {
    if (this.bodyState.kind !== 'held' || !this.isAtHand || this.#isUsed() || this.isEndHeard) return false
    if ((this.announced ?? this.heldLength) > limit) return false
    this.takeHeld()
    this.endBody()
    return true
  }

  /** False if somebody else reads it, or nothing more is to come. */
  #discard(limit: number): boolean {
    if (!this.isUntouched && this.bodyState.kind !== 'iterating') return false
    const announced = this.announced ?? 0
    if (this.isRunning) {
      this.enterState(EMPTYING)
      this.forgetIterator()
      if (announced > limit) this.destroy(new AbortError())
      else emptyStream(this, limit)
      return announced <= limit
    }
    const room = limit - this.takeHeld().size
    this.enterState({ kind: 'dumping', room })
    if (room < 0 || announced > limit) this.destroy(new AbortError())
    else if (this.incoming.isComplete) this.endBody()
    else {
      this.incoming.resume()
      return true
    }
    return false
  }
}
