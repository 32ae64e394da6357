/**
 * Random decisions that are the same for the same seed, on every machine: a 32-bit generator (a Weyl sequence through a
 * mixer), since the runtime's cannot be seeded.
 */
export class Random {
  readonly seed: number
  #state: number

  constructor(seed: number) {
    this.seed = seed >>> 0
    this.#state = this.seed
  }

  /** A 32-bit number. */
  next(): number {
    this.#state = (this.#state + 0x9e37_79b9) >>> 0
    let z = this.#state
    z = Math.imul(z ^ (z >>> 16), 0x21f0_aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a_2d97)
    return (z ^ (z >>> 15)) >>> 0
  }

  /** 0 to `end` - 1. */
  below(end: number): number {
    return this.next() % end
  }

  /** `first` to `last`, both included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  /** True once in `odds` times. */
  oneIn(odds: number): boolean {
    return this.below(odds) === 0
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  /** One of the names, the more often the greater its number. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let at = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0))
    for (const [name, weight] of entries) {
      if (at < weight) return name
      at -= weight
    }
    throw new Error('no weights')
  }
}
