/**
 * Passes the body of a response through its decoders: holding → streaming → over, or holding → over. The engine pauses
 * while the decoders are full, and the decoders pause while the body wants nothing. A small response that expands to
 * gigabytes is therefore decoded as it is read.
 */
import { runtimeNextTick } from '../base/runtime-turns.ts'
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
  /** The body is decoded by streams, and these are about to be connected. */
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
 * Most bodies are small and arrive at once. Such a body is decoded in one call when it has ended: a stream works in
 * another thread, and the way there and back takes longer than decoding.
 */
interface Holding {
  readonly at: 'holding'
  readonly chunks: Uint8Array[]
  size: number
  isPaused: boolean
}

interface Streaming {
  readonly at: 'streaming'
  /** In the order in which they run. */
  readonly decoders: readonly Decoder[]
}

type State = Holding | Streaming | { readonly at: 'over' }

const OVER: State = { at: 'over' }

export class ContentDecoding {
  readonly #codings: readonly string[]
  readonly #truncation: Truncation
  readonly #target: DecodingTarget
  readonly #flow: CodedFlow
  #state: State = { at: 'holding', chunks: [], size: 0, isPaused: false }

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
      state.size + chunk.length <= MAX_WHOLE_BYTES
    ) {
      // The rest of what was read together with this chunk comes before the next tick.
      if (state.chunks.length === 0) runtimeNextTick(beginStreaming, this)
      state.chunks.push(chunk)
      state.size += chunk.length
      return
    }
    if (this.stream()?.write(chunk) === false) this.#flow.pause()
  }

  end(): void {
    const state = this.#state
    if (state.at === 'holding' && !state.isPaused && this.#decodeHeld(state)) return
    this.stream()?.end()
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
  #decodeHeld({ chunks, size }: Holding): boolean {
    let decoded: Buffer | null = null
    if (size > 0) {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
      try {
        decoded = decodeWhole(this.#codings[0]!, this.#truncation, bytes)
      } catch (error) {
        this.fail(error as Error)
        return true
      }
      if (decoded === null) return false
    }
    if (decoded !== null && decoded.length > 0) this.#target.onDecoded(decoded)
    this.#finish()
    return true
  }

  #finish(): void {
    // The target may have ended it when it got the last bytes.
    if (this.#state.at === 'over') return
    this.#state = OVER
    this.#target.onDecodedEnd()
  }

  /** Decodes with streams from now on. Returns the first of them; null if it is over. */
  stream(): Decoder | null {
    const state = this.#state
    if (state.at === 'over') return null
    if (state.at === 'streaming') return state.decoders[0]!
    const decoders = openDecoders(this.#codings, this.#truncation)
    this.#state = { at: 'streaming', decoders }
    this.#target.onDecoders?.(decoders)
    this.#connect(decoders)
    if (state.isPaused) this.pause()
    const first = decoders[0]!
    for (const chunk of state.chunks) {
      if (!first.write(chunk)) this.#flow.pause()
    }
    return first
  }

  #connect(decoders: readonly Decoder[]): void {
    decoders.forEach((decoder, index) => {
      decoder.on('error', (error: Error) => this.fail(error))
      const next = decoders[index + 1]
      if (next !== undefined) decoder.pipe(next)
    })
    decoders[0]!.on('drain', () => this.#flow.resume())
    const last = decoders.at(-1)!
    last.on('data', (chunk: Buffer) => {
      if (this.#state.at !== 'over') this.#target.onDecoded(chunk)
    })
    last.on('end', () => this.#finish())
  }
}

/** The rest of the body did not come with its beginning. */
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
