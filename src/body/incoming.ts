/**
 * The bytes of a body that have arrived and wait for a consumer, and the source that they come from, which is
 * paused while too many wait. The bodies of `request()` and `fetch` are built on it. Does not know who
 * consumes the bytes.
 */
import { BodyBytes } from '../base/bytes/body-bytes.ts'

/** Where the bytes of a body come from. */
export interface BodySource {
  /** Stop delivering for now. */
  pause(): void
  /** Go on delivering. */
  resume(): void
  /** The rest is not needed. */
  cancel(reason: unknown): void
  /** The body is consumed or destroyed: a later failure cannot take anything away. */
  spent(): void
}

/** `paused`: the source was asked to wait. */
type Arrival = 'flowing' | 'paused' | 'complete'

export class Incoming<Source extends BodySource = BodySource> {
  /** Null when it is no longer needed, so that a body that is kept does not keep its request alive. */
  source: Source | null
  readonly #limit: number
  #bytes: BodyBytes | null = null
  #arrival: Arrival = 'flowing'

  /** @param limit How many bytes may wait before the source is paused. */
  constructor(source: Source | null, limit: number) {
    this.source = source
    this.#limit = limit
  }

  /** A copy of the bytes, without their source. */
  fork(): Incoming<Source> {
    const copy = new Incoming<Source>(null, this.#limit)
    copy.#bytes = this.#bytes?.clone() ?? null
    copy.#arrival = this.#arrival
    return copy
  }

  /** In bytes. */
  get size(): number {
    return this.#bytes === null ? 0 : this.#bytes.size
  }

  /** To be read only. */
  get chunks(): readonly Buffer[] {
    return this.#bytes === null ? [] : this.#bytes.chunks
  }

  get isPaused(): boolean {
    return this.#arrival === 'paused'
  }

  /** The last byte has arrived. */
  get isComplete(): boolean {
    return this.#arrival === 'complete'
  }

  complete(): void {
    this.#arrival = 'complete'
  }

  add(chunk: Buffer): void {
    if (this.#bytes === null) this.#bytes = BodyBytes.of(chunk)
    else this.#bytes.add(chunk)
  }

  /** Adds bytes in memory that is lent for this call. `announced` is the length of the whole body, or 0. */
  addLent(memory: Buffer, start: number, end: number, announced: number): void {
    if (this.#bytes === null) this.#bytes = BodyBytes.begin(memory, start, end, announced)
    else this.#bytes.addLent(memory, start, end)
  }

  unshift(bytes: Buffer): void {
    if (this.#bytes === null) this.#bytes = BodyBytes.of(bytes)
    else this.#bytes.unshift(bytes)
  }

  /** Takes the first bytes in memory that belongs to the caller; undefined if there are none. */
  shift(): Buffer | undefined {
    return this.#bytes?.takeOwn()
  }

  /** Removes this many bytes from the front. */
  drop(count: number): void {
    this.#bytes?.drop(count)
  }

  /** Takes all bytes. */
  take(): BodyBytes {
    const bytes = this.#bytes ?? BodyBytes.none()
    this.#bytes = null
    return bytes
  }

  clear(): void {
    this.#bytes = null
  }

  /** Pauses the source if the limit is reached. */
  hold(): void {
    if (this.size >= this.#limit) this.pause()
  }

  pause(): void {
    if (this.#arrival !== 'flowing') return
    this.#arrival = 'paused'
    this.source?.pause()
  }

  /** Undoes a pause. */
  resume(): void {
    if (this.#arrival === 'paused') this.demand()
  }

  /** A reader waits for more. */
  demand(): void {
    if (this.#arrival === 'complete') return
    this.#arrival = 'flowing'
    this.source?.resume()
  }

  cancel(reason: unknown): void {
    this.#release()?.cancel(reason)
  }

  spent(): void {
    this.#release()?.spent()
  }

  #release(): Source | null {
    const { source } = this
    this.source = null
    return source
  }
}
