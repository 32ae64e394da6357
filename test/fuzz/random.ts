/** Pseudo-random numbers from a seed, so that every run can be repeated on any machine. */
export class Random {
  #counter: number

  constructor(seed: number) {
    this.#counter = seed >>> 0
  }

  /** 32 bits: a counter, scrambled until each of its bits affects all others. */
  next(): number {
    this.#counter = (this.#counter + 0x9e37_79b9) >>> 0
    let bits = this.#counter
    bits = Math.imul(bits ^ (bits >>> 16), 0x45d9_f3b5)
    bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b_3c6d)
    return (bits ^ (bits >>> 16)) >>> 0
  }

  /** A whole number from 0 up to, not including, `bound`; 0 for an empty range. */
  below(bound: number): number {
    return bound <= 0 ? 0 : this.next() % bound
  }

  /** Small numbers often, large ones sometimes. */
  small(bound: number): number {
    return this.below(1 + this.below(bound))
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)]
    if (choice === undefined) throw new Error('nothing to choose from')
    return choice
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i++) bytes[i] = this.next()
    return bytes
  }
}
