/**
 * Options that nobody knows: a name of another client, or one that is nearly right, has no effect, and that
 * is hard to find. The process gets a warning, once for each name and place. It is never an error: an
 * interceptor of the caller may have options of its own, so that a name is only reported if it is in a table
 * of `option-advice.ts`, or differs from a known one by a letter or two.
 */
import type { PublicFunction } from './base/error/public-call.ts'
import type { Advice } from './option-advice.ts'

export const WARNING = 'UnknownOptionWarning'
export const CODE = 'VENTUNO_UNKNOWN_OPTION'

/** Names that are remembered for one place. A caller may make names out of its input. */
const MOST_NAMES = 500

/** Names of a call that are compared with those of the one before. */
const MOST_COMPARED = 16

/** What an option of ours or of another client looks like. `_x`, `$x`, `x-y` and `a.b` are somebody's own. */
const PLAIN = /^[a-z][a-z\d]*$/i

/** Shorter names are within a letter of too many others. */
const SHORTEST = 5
/** From this length on, two letters may differ. */
const LONG = 9

export class OptionNames {
  readonly #place: string
  readonly #advice: Advice
  readonly #ours: readonly string[]
  /** Ours, and those that have been judged. */
  readonly #known: Set<string>
  /** Of the last call, in their order. Most calls have the same: to compare them costs a few nanoseconds. */
  readonly #last: string[] = []

  /** @param options An object with all names. */
  constructor(place: string, options: object, advice: Advice = []) {
    this.#place = place
    this.#advice = advice
    this.#ours = Object.keys(options)
    this.#known = new Set(this.#ours)
  }

  /** `called`: the public function that gets the options, where the stack of the warning begins. */
  check(given: object, called?: PublicFunction): void {
    const last = this.#last
    let index = 0
    try {
      for (const name in given) {
        if (name !== last[index] || index >= MOST_COMPARED) {
          if (!this.#known.has(name)) this.#judge(given, name, called)
          else if (index < MOST_COMPARED) last[index] = name
        }
        index++
      }
    } catch {
      // A Proxy of the caller may throw. What is wrong with it shows when it is read.
    }
  }

  #judge(given: object, name: string, called: PublicFunction | undefined): void {
    const value = (given as Record<string, unknown>)[name]
    // Not of its class: a `Request` as the init of `fetch` has a method `json`.
    const isGiven = value !== undefined && value !== null && Object.hasOwn(given, name)
    if (!isGiven || this.#known.size > this.#ours.length + MOST_NAMES) return
    this.#known.add(name)
    const advice = PLAIN.test(name) ? this.#adviceFor(name) : null
    if (advice === null || process.env['VENTUNO_NO_OPTION_WARNINGS']) return
    const place = called === undefined ? this.#place : `${called.name}()`
    process.emitWarning(`\`${name}\` is not an option of ${place}: did you mean ${advice}?`, {
      type: WARNING,
      code: CODE,
      detail: 'It has no effect. VENTUNO_NO_OPTION_WARNINGS=1 turns these warnings off.',
      // The runtime leaves out the frames down to this function.
      ...(called === undefined ? null : { ctor: called }),
    })
  }

  #adviceFor(name: string): string | null {
    for (const [names, advice] of this.#advice.flatMap(Object.entries<string>)) {
      if (names.split(' ').includes(name)) return advice
    }
    return nearestName(name, this.#ours)
  }
}

/** The known name that differs in its capitals only, or by a letter or two; null if there is none. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const lower = name.toLowerCase()
  const spelt = known.find((one) => one.toLowerCase() === lower)
  return spelt ?? known.find((one) => isNear(lower, one.toLowerCase())) ?? null
}

function isNear(name: string, ours: string): boolean {
  const length = Math.min(name.length, ours.length)
  return length >= SHORTEST && distance(name, ours) <= (length >= LONG ? 2 : 1)
}

/** How many letters have to be put in, left out, replaced or swapped with their neighbour. */
function distance(a: string, b: string): number {
  // More than two letters apart.
  if (Math.abs(a.length - b.length) > 2) return 3
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + same)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = above
  }
  return row[b.length]!
}
