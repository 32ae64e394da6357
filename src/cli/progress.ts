/**
 * One line on a terminal that shows how far something long has come. Does nothing anywhere else, and nothing
 * for what is done at once. It has no timer: what does not move needs no new picture.
 */
import { bytes, type Output, type TextLayout } from './text-layout.ts'

/** In milliseconds. What takes less shows no progress. */
const PATIENCE = 400
/** Milliseconds between two updates. */
const INTERVAL = 100
const LONGEST_BAR = 24
/** Cells beside the bar when sizes and times are long. */
const BESIDE = 46

export class Progress {
  readonly #output: Output
  readonly #layout: TextLayout
  readonly #now: () => number
  readonly #started: number
  #drawnAt: number | null = null

  constructor(output: Output, layout: TextLayout, now: () => number = () => performance.now()) {
    this.#output = output
    this.#layout = layout
    this.#now = now
    this.#started = now()
  }

  /** The number done and the total; null if the total is unknown. */
  draw(done: number, total: number | null, unit: 'bytes' | 'requests'): void {
    const now = this.#now()
    const elapsed = now - this.#started
    const isEarly = elapsed < PATIENCE || (this.#drawnAt !== null && now - this.#drawnAt < INTERVAL)
    if (!this.#output.isTTY || isEarly) return
    this.#drawnAt = now
    const print = unit === 'bytes' ? bytes : String
    const rate = `${print(Math.round((done * 1000) / elapsed))}/s`
    const line = total === null || total < done ? print(done) : this.#bar(done, total, print)
    this.#output.write(`\r\x1b[K  ${line}  ${this.#layout.paint('dim', rate)}`)
  }

  /** Removes the line. */
  clear(): void {
    if (this.#drawnAt !== null) this.#output.write('\r\x1b[K')
    this.#drawnAt = null
  }

  #bar(done: number, total: number, print: (value: number) => string): string {
    const cells = Math.max(4, Math.min(LONGEST_BAR, this.#layout.columns - BESIDE))
    const full = Math.floor((done / total) * cells)
    const bar =
      this.#layout.paint('cyan', '█'.repeat(full)) + this.#layout.paint('dim', '░'.repeat(cells - full))
    const percent = `${Math.floor((done / total) * 100)} %`.padStart(5)
    return `${bar} ${percent}  ${print(done)} of ${print(total)}`
  }
}
