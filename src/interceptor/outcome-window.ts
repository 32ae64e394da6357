/**
 * Counts events of two kinds over the last so many milliseconds. The time is cut into slices that are
 * forgotten one by one, so the memory is the same for any number of events.
 */

const SLICES = 10

export class OutcomeWindow {
  readonly #sliceLength: number
  /** Total and marked events of each slice, by turns. */
  readonly #counts = new Float64Array(2 * SLICES)
  /** The number of the newest slice, counted from the start of the clock. */
  #newest = 0

  constructor(milliseconds: number) {
    this.#sliceLength = milliseconds / SLICES
  }

  add(marks: 0 | 1, at: number): void {
    this.#advance(at)
    const index = 2 * (this.#newest % SLICES)
    this.#counts[index]!++
    this.#counts[index + 1]! += marks
  }

  count(at: number): { readonly total: number; readonly marked: number } {
    this.#advance(at)
    let total = 0
    let marked = 0
    for (let i = 0; i < this.#counts.length; i += 2) {
      total += this.#counts[i]!
      marked += this.#counts[i + 1]!
    }
    return { total, marked }
  }

  clear(): void {
    this.#counts.fill(0)
  }

  #advance(at: number): void {
    const slice = Math.floor(at / this.#sliceLength)
    if (slice <= this.#newest) return
    const first = Math.max(this.#newest + 1, slice - SLICES + 1)
    for (let i = first; i <= slice; i++) this.#counts.fill(0, 2 * (i % SLICES), 2 * (i % SLICES) + 2)
    this.#newest = slice
  }
}
