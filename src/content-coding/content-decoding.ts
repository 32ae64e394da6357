/**
 * Passes the body of a response through its decoders. The engine pauses while the decoders are full, and the decoders
 * pause while the body wants nothing. A small response that expands to gigabytes is therefore decoded as it is read.
 */
import { type Decoder, decodersFor } from './decoders.ts'

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
}

/** Null if there is nothing to decode. */
export function openDecoding(
  contentEncoding: string | null,
  target: DecodingTarget,
  flow: CodedFlow,
): ContentDecoding | { readonly problem: string } | null {
  if (contentEncoding === null) return null
  const decoders = decodersFor(contentEncoding)
  if (decoders === null || 'problem' in decoders) return decoders
  return decoders.length === 0 ? null : new ContentDecoding(decoders, target, flow)
}

export class ContentDecoding {
  readonly #decoders: readonly Decoder[]
  readonly #first: Decoder
  readonly #last: Decoder
  readonly #flow: CodedFlow
  #isOver = false

  constructor(decoders: readonly Decoder[], target: DecodingTarget, flow: CodedFlow) {
    this.#decoders = decoders
    this.#first = decoders[0]!
    this.#last = decoders.at(-1)!
    this.#flow = flow
    decoders.forEach((decoder, index) => {
      decoder.on('error', (error: Error) => {
        if (this.#isOver) return
        this.destroy()
        target.onDecodeError(error)
      })
      const next = decoders[index + 1]
      if (next !== undefined) decoder.pipe(next)
    })
    this.#first.on('drain', () => this.#flow.resume())
    this.#last.on('data', (chunk: Buffer) => {
      if (!this.#isOver) target.onDecoded(chunk)
    })
    this.#last.on('end', () => {
      if (this.#isOver) return
      this.#isOver = true
      target.onDecodedEnd()
    })
  }

  write(chunk: Uint8Array): void {
    if (!this.#first.write(chunk)) this.#flow.pause()
  }

  end(): void {
    this.#first.end()
  }

  pause(): void {
    this.#last.pause()
  }

  resume(): void {
    this.#last.resume()
  }

  /** No output follows. */
  destroy(): void {
    this.#isOver = true
    for (const decoder of this.#decoders) decoder.destroy()
  }
}

/** The maximum number of decoded bytes. */
export function limitOf({ maxResponseSize }: { readonly maxResponseSize?: number }): number {
  return maxResponseSize === undefined || maxResponseSize < 0 ? Number.POSITIVE_INFINITY : maxResponseSize
}
