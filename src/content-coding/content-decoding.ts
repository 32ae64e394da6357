/**
 * Passes the body of a response through its decoders: holding → streaming → over, or holding → over. The
 * engine pauses while the decoders are full, and the decoders pause while the reader does. A small
 * response that expands to gigabytes is therefore decoded as it is read.
 */
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import { asBuffer } from '../base/bytes/source-bytes.ts'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'
import { type Decoder, isDecodable, openDecoders, readCodings, type Truncation } from './decoders.ts'
import { decodeWhole, MAX_WHOLE_BYTES } from './whole-body.ts'

/** Where the coded bytes come from. */
export interface CodedFlow {
  pause(): void
  resume(): void
}

/** Receives the decoded bytes. */
export interface DecodingTarget {
  onDecoded(chunk: Buffer): void
  onDecodedEnd(): void
  onDecodeError(error: Error): void
  /** Called with the decoders before they are connected, if the body is decoded by streams. */
  onDecoders?(decoders: readonly Decoder[]): void
}

/** Null if there is nothing to decode, or if a coding is unknown. */
export function openDecoding(
  contentEncoding: string | null,
  target: DecodingTarget,
  flow: CodedFlow,
): ContentDecoding | { readonly problem: string } | null {
  if (contentEncoding === null) return null
  const codings = readCodings(contentEncoding)
  if ('problem' in codings) return codings
  if (codings.length === 0 || !codings.every(isDecodable)) return null
  return new ContentDecoding(codings, 'accepted', target, flow)
}

/**
 * Most bodies are small and arrive at once. Such a body is decoded in one call when it has ended: a stream
 * works in another thread, and the round trip takes longer than decoding.
 */
interface Holding {
  readonly at: 'holding'
  readonly body: BodyBytes
  isPaused: boolean
}

interface Streaming {
  readonly at: 'streaming'
  /** In the order in which they run. */
  readonly decoders: readonly Decoder[]
  /**
   * What has arrived while the first one works. It gets small pieces together, because each costs it a turn.
   */
  readonly waiting: BodyBytes
  isWorking: boolean
  /** The source is paused, because too much waits. */
  isFull: boolean
  readonly onWorked: () => void
}

/** Bytes that wait for a decoder before the body is paused. */
const MAX_WAITING = 16_384

type State = Holding | Streaming | { readonly at: 'over' }

const OVER: State = { at: 'over' }

export class ContentDecoding {
  readonly #codings: readonly string[]
  readonly #truncation: Truncation
  readonly #target: DecodingTarget
  readonly #flow: CodedFlow
  #state: State = { at: 'holding', body: BodyBytes.none(), isPaused: false }

  /** @param codings In the order in which they were applied; all decodable, and at least one. */
  constructor(codings: readonly string[], truncation: Truncation, target: DecodingTarget, flow: CodedFlow) {
    this.#codings = codings
    this.#truncation = truncation
    this.#target = target
    this.#flow = flow
  }

  /** The chunk belongs to the decoding from now on. */
  write(chunk: Uint8Array): void {
    const state = this.#state
    if (
      state.at === 'holding' &&
      this.#codings.length === 1 &&
      state.body.size + chunk.length <= MAX_WHOLE_BYTES
    ) {
      // The rest of the same read arrives before the next tick.
      if (state.body.size === 0) runtimeNextTick(beginStreaming, this)
      state.body.add(asBuffer(chunk))
      return
    }
    const streaming = this.stream()
    if (streaming === null) return
    streaming.waiting.add(asBuffer(chunk))
    this.#feed(streaming)
    if (streaming.isFull || streaming.waiting.size < MAX_WAITING) return
    streaming.isFull = true
    this.#flow.pause()
  }

  /** Gives the first decoder what waits. */
  #feed(state: Streaming): void {
    if (state.isWorking || this.#state !== state) return
    const chunk = state.waiting.takeOwn()
    if (chunk === undefined) return
    state.isWorking = true
    state.decoders[0]!.write(chunk, state.onWorked)
  }

  #onWorked(): void {
    const state = this.#state
    if (state.at !== 'streaming') return
    state.isWorking = false
    this.#feed(state)
    if (!state.isFull || state.waiting.size >= MAX_WAITING) return
    state.isFull = false
    this.#flow.resume()
  }

  end(): void {
    const state = this.#state
    if (state.at === 'holding' && !state.isPaused && this.#decodeHeld(state)) return
    const streaming = this.stream()
    if (streaming === null) return
    const [first] = streaming.decoders
    for (let chunk = streaming.waiting.shift(); chunk !== undefined; chunk = streaming.waiting.shift()) {
      first!.write(chunk)
    }
    first!.end()
  }

  pause(): void {
    const state = this.#state
    if (state.at === 'holding') state.isPaused = true
    else if (state.at === 'streaming') state.decoders.at(-1)!.pause()
  }

  resume(): void {
    const state = this.#state
    if (state.at === 'holding') state.isPaused = false
    else if (state.at === 'streaming') state.decoders.at(-1)!.resume()
  }

  /** No output follows. */
  destroy(): void {
    const state = this.#state
    this.#state = OVER
    if (state.at === 'streaming') for (const decoder of state.decoders) decoder.destroy()
  }

  fail(error: Error): void {
    if (this.#state.at === 'over') return
    this.destroy()
    this.#target.onDecodeError(error)
  }

  /** All of the body is there. False if streams have to decode it. */
  #decodeHeld({ body }: Holding): boolean {
    if (body.size > 0) {
      let decoded: Buffer | null = null
      try {
        decoded = decodeWhole(this.#codings[0]!, this.#truncation, body.view())
      } catch {
        // A stream delivers what precedes the error.
      }
      if (decoded === null) return false
      if (decoded.length > 0) this.#target.onDecoded(decoded)
    }
    this.#finish()
    return true
  }

  #finish(): void {
    // The target may have ended it when it got the last bytes.
    if (this.#state.at === 'over') return
    this.#state = OVER
    this.#target.onDecodedEnd()
  }

  /** Decodes with streams from now on. Null if it is over. */
  stream(): Streaming | null {
    const state = this.#state
    if (state.at === 'over') return null
    if (state.at === 'streaming') return state
    const decoders = openDecoders(this.#codings, this.#truncation)
    const streaming: Streaming = {
      at: 'streaming',
      decoders,
      waiting: state.body,
      isWorking: false,
      isFull: false,
      onWorked: () => this.#onWorked(),
    }
    this.#state = streaming
    this.#target.onDecoders?.(decoders)
    this.#connect(decoders)
    if (state.isPaused) this.pause()
    this.#feed(streaming)
    return streaming
  }

  #connect(decoders: readonly Decoder[]): void {
    decoders.forEach((decoder, index) => {
      decoder.on('error', (error: Error) => this.fail(error))
      const next = decoders[index + 1]
      if (next !== undefined) decoder.pipe(next)
    })
    const last = decoders.at(-1)!
    last.on('data', (chunk: Buffer) => {
      if (this.#state.at !== 'over') this.#target.onDecoded(chunk)
    })
    last.on('end', () => this.#finish())
  }
}

/** Called a tick after the first chunk. Does nothing if the body has ended by then. */
function beginStreaming(decoding: ContentDecoding): void {
  try {
    decoding.stream()
  } catch (error) {
    decoding.fail(error as Error)
  }
}

/** The maximum number of decoded bytes. */
export function limitOf({ maxResponseSize }: { readonly maxResponseSize?: number }): number {
  return maxResponseSize === undefined || maxResponseSize < 0 ? Number.POSITIVE_INFINITY : maxResponseSize
}
