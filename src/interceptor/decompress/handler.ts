/** Decodes the body of one response: undecided → plain, or undecided → coded → decoding → over. */
import type { Duplex } from 'node:stream'
import { ContentDecoding, type DecodingTarget, limitOf } from '../../content-coding/content-decoding.ts'
import { type Decoder, isDecodable, readCodings } from '../../content-coding/decoders.ts'
import { RequestAbortedError, ResponseExceededMaxSizeError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { RelayOwner } from '../../relay/relay-controller.ts'
import { responseFacts, stateFacts } from '../../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import { DecodingController, withoutCodedFields } from './controller.ts'
import type { DecompressSettings } from './options.ts'

/** Output below which the ratio does not matter: a page of blanks may well shrink to a thousandth. */
const RATIO_FROM = 1024 * 1024

type State =
  | { readonly at: 'plain' }
  | { readonly at: 'coded'; readonly codings: readonly string[] }
  | Decoding
  | { readonly at: 'over' }

interface Decoding {
  readonly at: 'decoding'
  readonly decoding: ContentDecoding
  /** Of the complete response; null before. */
  trailers: HeaderObject | null
  /** The decoders have delivered all of their output. */
  isDecoded: boolean
}

const PLAIN: State = { at: 'plain' }
const OVER: State = { at: 'over' }

export class DecompressHandler extends ForwardingHandler implements DecodingTarget, RelayOwner {
  readonly #settings: DecompressSettings
  readonly #controller = new DecodingController(this)
  #wire: DispatchController | null = null
  #state: State = PLAIN
  /** Bytes of the body as received. */
  #received = 0
  /** Bytes that the last coding has expanded to. */
  #decoded = 0

  constructor(handler: DispatchHandler, settings: DecompressSettings) {
    super(handler)
    this.#settings = settings
  }

  protected override forwardQueued(abort: (reason?: unknown) => void): void {
    this.#controller.wait(abort)
    super.forwardQueued((reason) => this.#controller.abort(reason))
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller.follow(controller)
    if (!this.#controller.aborted) super.onRequestStart(this.#controller, context)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode >= 200) this.#controller.show(controller)
    const codings = this.#codingsOf(statusCode, headers)
    if (codings === null) {
      super.onResponseStart(this.#controller, statusCode, headers, statusText)
      return
    }
    this.#wire = controller
    this.#state = { at: 'coded', codings }
    this.#controller.hideCoding()
    stateFacts(this.#controller, { ...responseFacts(controller), isTransformed: true })
    super.onResponseStart(this.#controller, statusCode, withoutCodedFields(headers), statusText)
  }

  /** Null if the body stays as it is. */
  #codingsOf(statusCode: number, headers: HeaderObject): readonly string[] | null {
    const value = headers['content-encoding']
    if (value === undefined || statusCode < 200) return null
    const { skipStatusCodes, skipErrorResponses } = this.#settings
    if (skipStatusCodes.has(statusCode) || (statusCode >= 400 && skipErrorResponses)) return null
    // A part of a coded body cannot be decoded.
    if (statusCode === 206) return null
    const codings = readCodings(String(value))
    if ('problem' in codings) throw new ResponseExceededMaxSizeError(codings.problem)
    return codings.length > 0 && codings.every(isDecodable) ? codings : null
  }

  override onResponseData(_controller: DispatchController, chunk: Buffer): void {
    if (this.#state === PLAIN) {
      super.onResponseData(this.#controller, chunk)
      return
    }
    if (chunk.length === 0) return
    this.#received += chunk.length
    // The decoders are made for the first byte: an empty body is empty in any coding.
    if (this.#state.at === 'coded') this.#state = this.#open(this.#state.codings)
    if (this.#state.at === 'decoding' && !this.#state.isDecoded) this.#state.decoding.write(chunk)
  }

  #open(codings: readonly string[]): Decoding {
    const decoding = new ContentDecoding(codings, 'refused', this, this.#wire!)
    this.#controller.decodeWith(decoding)
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
    const { maxSize, maxRatio } = this.#settings
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
    return size > limitOf(this.#wire!) ? new ResponseExceededMaxSizeError() : null
  }

  onDecoded(chunk: Buffer): void {
    if (this.#state.at !== 'decoding') return
    this.#decoded += chunk.length
    const error = this.#excess(this.#decoded)
    if (error !== null) {
      this.onDecodeError(error)
      return
    }
    try {
      super.onResponseData(this.#controller, chunk)
    } catch (thrown) {
      this.onDecodeError(thrown as Error)
    }
  }

  onDecodedEnd(): void {
    if (this.#state.at !== 'decoding') return
    this.#state.isDecoded = true
    this.#completeUnlessPaused()
  }

  onResume(): void {
    this.#completeUnlessPaused()
  }

  /** The decoders may have delivered everything when the handler pauses: nothing else keeps the end back then. */
  #completeUnlessPaused(): void {
    const state = this.#state
    if (state.at !== 'decoding' || !state.isDecoded || state.trailers === null) return
    if (!this.#controller.paused) this.#complete(state.trailers)
  }

  override onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    const state = this.#state
    if (state.at === 'over') return
    if (state.at !== 'decoding') {
      this.#state = OVER
      this.#controller.settle()
      this.forwardEnd(this.#controller, trailers)
      return
    }
    state.trailers = trailers
    if (state.isDecoded) this.#completeUnlessPaused()
    else state.decoding.end()
  }

  /** Runs in an event of a decoder, or while the handler resumes, where nothing catches. */
  #complete(trailers: HeaderObject): void {
    this.#state = OVER
    this.#controller.settle()
    try {
      this.forwardEnd(this.#controller, trailers)
    } catch {
      // The final call of a handler: there is no other call that could report what it threw.
    }
  }

  /** The bytes are not valid in their coding, decode to too much, or the caller's handler threw. */
  onDecodeError(error: Error): void {
    if (!this.#stop()) return
    this.#wire?.abort(error)
    this.#notifyError(error)
  }

  onAbort(reason: unknown): void {
    this.#controller.giveUp(reason)
    // The connection may be done with the response, and does not report the abort then.
    if (this.#state.at !== 'decoding' || this.#state.trailers === null) return
    this.#stop()
    this.#notifyError((reason ?? new RequestAbortedError()) as Error)
  }

  override onRequestUpgrade(
    _controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#controller.settle()
    super.onRequestUpgrade(this.#controller, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#stop()) super.onResponseError(controller ? this.#controller : controller, error)
  }

  /** False if the caller had its final call. */
  #stop(): boolean {
    const state = this.#state
    if (state.at === 'over') return false
    this.#state = OVER
    this.#controller.settle()
    if (state.at === 'decoding') state.decoding.destroy()
    return true
  }

  #notifyError(error: Error): void {
    try {
      super.onResponseError(this.#controller, error)
    } catch {
      // The final call of a handler: there is no other call that could report what it threw.
    }
  }
}
