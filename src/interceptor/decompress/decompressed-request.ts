/** One request whose response body is decoded: plain, or coded → decoding. */
import { ContentDecoding, type DecodingTarget, limitOf } from '../../content-coding/content-decoding.ts'
import { type Decoder, isDecodable, readCodings } from '../../content-coding/decoders.ts'
import { ResponseExceededMaxSizeError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { OwnReceived } from '../../relay/own-received.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DecompressSettings } from './options.ts'

/** Output below which the ratio does not matter: a page of blanks may well shrink to a thousandth. */
const RATIO_FROM = 1024 * 1024

type State =
  | { readonly at: 'plain' }
  | { readonly at: 'coded'; readonly codings: readonly string[] }
  | Decoding

interface Decoding {
  readonly at: 'decoding'
  readonly decoding: ContentDecoding
  /** Of the complete response; null before. */
  trailers: HeaderObject | null
  /** The decoders have delivered all of their output. */
  isDecoded: boolean
}

const PLAIN: State = { at: 'plain' }

export class DecompressedRequest extends RelayedRequest<DecompressSettings> implements DecodingTarget {
  #state: State = PLAIN
  /** Bytes of the body as received. */
  #received = 0
  /** Bytes that the last coding has expanded to. */
  #decoded = 0

  override abort(reason: unknown): void {
    if (this.#state.at === 'decoding') this.#state.decoding.destroy()
    super.abort(reason)
  }

  /** What the caller pauses is the decoder, which pauses the connection. */
  override pause(): void {
    if (this.#state.at === 'decoding') this.#state.decoding.pause()
    else super.pause()
  }

  override resume(): void {
    if (this.#state.at === 'decoding') this.#state.decoding.resume()
    else super.resume()
  }

  override onHead(attempt: Attempt, head: Head): void {
    const codings = this.#codingsOf(head)
    if (codings === null) {
      super.onHead(attempt, head)
      return
    }
    const { controller, facts } = attempt
    this.#state = { at: 'coded', codings }
    const { 'content-encoding': _coding, 'content-length': _length, ...shown } = head.headers
    const received = new OwnReceived(shown, controller!, controller)
    this.downstream.head({ ...head, headers: shown }, received, { ...facts, isTransformed: true })
  }

  /** Null if the body stays as it is. */
  #codingsOf({ statusCode, headers }: Head): readonly string[] | null {
    const value = headers['content-encoding']
    if (value === undefined || statusCode < 200) return null
    const { skipStatusCodes, skipErrorResponses } = this.settings
    if (skipStatusCodes.has(statusCode) || (statusCode >= 400 && skipErrorResponses)) return null
    // A part of a coded body cannot be decoded.
    if (statusCode === 206) return null
    const codings = readCodings(String(value))
    if ('problem' in codings) throw new ResponseExceededMaxSizeError(codings.problem)
    return codings.length > 0 && codings.every(isDecodable) ? codings : null
  }

  override onData(_attempt: Attempt, chunk: Buffer): void {
    if (this.#state === PLAIN) {
      this.downstream.data(chunk)
      return
    }
    if (chunk.length === 0) return
    this.#received += chunk.length
    // The decoders are made for the first byte: an empty body is empty in any coding.
    if (this.#state.at === 'coded') this.#state = this.#open(this.#state.codings)
    if (this.#state.at === 'decoding' && !this.#state.isDecoded) this.#state.decoding.write(chunk)
  }

  protected override passesBytes(): boolean {
    return this.#state === PLAIN
  }

  #open(codings: readonly string[]): Decoding {
    const decoding = new ContentDecoding(codings, 'refused', this, this.attempt.controller!)
    if (this.downstream.paused) {
      decoding.pause()
      this.attempt.resume()
    }
    return { at: 'decoding', decoding, trailers: null, isDecoded: false }
  }

  /** What a coding inside of another expands to counts as well: it need not come out in the end. */
  onDecoders(decoders: readonly Decoder[]): void {
    for (const decoder of decoders.slice(0, -1)) {
      let size = 0
      decoder.on('data', (chunk: Buffer) => {
        size += chunk.length
        const error = this.#excess(size)
        if (error !== null) this.onDecodeError(error)
      })
    }
  }

  /** The error for a coding that has expanded to too much. */
  #excess(size: number): Error | null {
    const { maxSize, maxRatio } = this.settings
    if (size > maxSize) {
      return new ResponseExceededMaxSizeError(
        `Decompressed response size (${size}) exceeded maxSize (${maxSize})`,
      )
    }
    if (size > RATIO_FROM && size > maxRatio * this.#received) {
      return new ResponseExceededMaxSizeError(
        `Decompressed response is more than ${maxRatio} times its encoded size`,
      )
    }
    return size > limitOf(this.attempt.controller!) ? new ResponseExceededMaxSizeError() : null
  }

  /** Runs in an event of a decoder, where nothing catches, as do the next two. */
  onDecoded(chunk: Buffer): void {
    if (this.downstream.settled) return
    this.#decoded += chunk.length
    const error = this.#excess(this.#decoded)
    if (error !== null) this.onDecodeError(error)
    else this.downstream.contain(() => this.downstream.data(chunk))
  }

  onDecodedEnd(): void {
    if (this.#state.at !== 'decoding') return
    this.#state.isDecoded = true
    if (this.#state.trailers !== null) this.#complete(this.#state.trailers)
  }

  #complete(trailers: HeaderObject): void {
    this.downstream.contain(() => this.downstream.end(trailers, this.attempt.controller))
  }

  /** The bytes are not valid in their coding, or decode to too much. */
  onDecodeError(error: Error): void {
    this.downstream.contain(() => this.downstream.fail(error))
    this.abort(error)
  }

  override onEnd({ controller }: Attempt, trailers: HeaderObject): void {
    const state = this.#state
    if (state.at !== 'decoding') {
      this.downstream.end(trailers, controller)
      return
    }
    state.trailers = trailers
    if (state.isDecoded) this.#complete(trailers)
    else state.decoding.end()
  }

  override onFailed(attempt: Attempt, error: Error): void {
    if (this.#state.at === 'decoding') this.#state.decoding.destroy()
    super.onFailed(attempt, error)
  }
}
