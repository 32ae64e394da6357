/** Reads the body of a response that no handler gets, so that its connection can be used again; but not at any price. */
import type { HeaderObject } from '../protocol/header-block.ts'

/** Reading more costs more than a new connection. */
const MAX_BYTES = 64 * 1024

/** A peer that trickles its body must not hold the next request up. */
const MAX_MILLISECONDS = 1000

export class Discarding {
  readonly #giveUp: () => void
  #timer: ReturnType<typeof setTimeout> | null = null
  #bytes = 0

  /** @param giveUp Ends a response that is too long, or takes too long. */
  constructor(giveUp: () => void) {
    this.#giveUp = giveUp
  }

  /** May end the response at once. */
  begin(headers: HeaderObject, hasBody: boolean): void {
    if (hasBody && Number(headers['content-length']) > MAX_BYTES) {
      this.#drop()
      return
    }
    this.#timer = globalThis.setTimeout(() => this.#drop(), MAX_MILLISECONDS)
    this.#timer.unref?.()
  }

  take(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_BYTES) this.#drop()
  }

  /** The response has ended. */
  stop(): void {
    if (this.#timer !== null) globalThis.clearTimeout(this.#timer)
    this.#timer = null
  }

  #drop(): void {
    this.stop()
    this.#giveUp()
  }
}
