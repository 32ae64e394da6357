/**
 * One line on a terminal that shows how far something long has come. Does nothing anywhere else, and nothing
 * for what is done at once. It has no timer: what does not move needs no new picture.
 */
import type { LoadProgress } from './load.ts'
import type { Options } from './options.ts'
import { bytes, count, type Output, type TextLayout } from './text-layout.ts'

/** In milliseconds. What takes less shows no progress. */
const PATIENCE = 500
/** Milliseconds between two updates. */
const INTERVAL = 100
const LONGEST_BAR = 24
/** Cells beside the bar when sizes and times are long. */
const BESIDE = 58

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

  /** The bytes that have come, and all; null if that is unknown. */
  draw(done: number, total: number | null): void {
    const elapsed = this.#now() - this.#started
    const rate = (done * 1000) / elapsed
    const isBounded = total !== null && total >= done
    const sizes = isBounded ? `${bytes(done)} of ${bytes(total)}` : bytes(done)
    const left = isBounded && rate > 0 ? `  ${time(((total - done) / rate) * 1000)} left` : ''
    this.#line(isBounded ? done / total : null, sizes, `${bytes(Math.round(rate))}/s${left}`)
  }

  /** Requests of a measurement, which ends after some of them, or some time. */
  drawLoad(
    { done, failed, elapsed }: LoadProgress,
    { repeat, duration }: Pick<Options, 'repeat' | 'duration'>,
  ): void {
    const share = Math.max(repeat === null ? 0 : done / repeat, duration === null ? 0 : elapsed / duration)
    const errors = failed === 0 ? '' : `  ${count(failed, 'error')}`
    const rate = `${Math.round((done * 1000) / elapsed)}/s`
    this.#line(Math.min(1, share), `${count(done, 'request')}${errors}`, `${rate}  ${time(elapsed)}`)
  }

  /** Removes the line. */
  clear(): void {
    if (this.#drawnAt !== null) this.#output.write('\r\x1b[K')
    this.#drawnAt = null
  }

  #line(share: number | null, text: string, more: string): void {
    const now = this.#now()
    const isEarly =
      now - this.#started < PATIENCE || (this.#drawnAt !== null && now - this.#drawnAt < INTERVAL)
    if (!this.#output.isTTY || isEarly) return
    this.#drawnAt = now
    this.#output.write(`\r\x1b[K  ${this.#bar(share)}${text}  ${this.#layout.paint('dim', more)}`)
  }

  #bar(share: number | null): string {
    if (share === null) return ''
    const cells = Math.max(4, Math.min(LONGEST_BAR, this.#layout.columns - BESIDE))
    const full = Math.floor(share * cells)
    const bar =
      this.#layout.paint('cyan', '█'.repeat(full)) + this.#layout.paint('dim', '░'.repeat(cells - full))
    return `${bar} ${`${Math.floor(share * 100)} %`.padStart(5)}  `
  }
}

/** Whole seconds: `7 s`, `1:05`, `2:00:00`. */
function time(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':')
}
