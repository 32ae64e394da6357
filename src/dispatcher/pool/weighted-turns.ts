/**
 * Weighted round robin as in the Linux Virtual Server. With each round over the list, a level goes down from
 * the greatest weight by the greatest common divisor of the weights; at zero it starts at the top again. The
 * next entry whose weight is at least the level gets the turn. So the shares follow the weights, and entries
 * of the same weight alternate.
 */
export interface Weighted {
  weight: number
  /** It can be given something now. */
  readonly isReady: boolean
}

const LEAST_WEIGHT = 1

export class WeightedTurns<T extends Weighted> {
  readonly line: T[] = []
  readonly #top: number
  #step = 0
  #level = 0
  /** Where in the line the last turn was. */
  #at = -1

  /** @param top The greatest weight of an entry. */
  constructor(top: number) {
    this.#top = top
  }

  join(entry: T): void {
    this.line.push(entry)
    this.#measure()
  }

  leave(entry: T): void {
    this.line.splice(this.line.indexOf(entry), 1)
    this.#measure()
  }

  lower(entry: T, by: number): void {
    entry.weight = Math.max(LEAST_WEIGHT, entry.weight - by)
    this.#measure()
  }

  /** The step stays: on its way up again a weight is one that the level has met before. */
  raise(entry: T, by: number): void {
    entry.weight = Math.min(this.#top, entry.weight + by)
  }

  /** Whose turn it is; null when none is ready. */
  next(): T | null {
    const line = this.line
    let heaviest = line.findIndex(({ isReady }) => isReady)
    if (heaviest === -1) return null
    for (let looked = 0; looked < line.length; looked++) {
      this.#at = (this.#at + 1) % line.length
      if (this.#at === 0) this.#sink()
      const entry = line[this.#at]!
      if (!entry.isReady) continue
      if (entry.weight >= this.#level) return entry
      if (entry.weight > line[heaviest]!.weight) heaviest = this.#at
    }
    // No entry weighs as much as the level: it sinks until one does.
    this.#at = heaviest
    this.#level = line[heaviest]!.weight
    return line[heaviest]!
  }

  #sink(): void {
    this.#level -= this.#step
    if (this.#level <= 0) this.#level = this.#top
  }

  #measure(): void {
    this.#step = this.line.reduce((divisor, { weight }) => commonDivisor(divisor, weight), 0)
  }
}

/** Also of weights that are not whole numbers. */
function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}
