/**
 * Reads `WWW-Authenticate` and fields alike (RFC 9110 §11.6.1). The server may be hostile: every step takes at least
 * one character, and what follows a mistake is ignored, for two readers could disagree about it.
 */

/** Names in lower case. */
export type AuthParameters = ReadonlyMap<string, string>

export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  readonly parameters: AuthParameters
}

const BLANKS = /[ \t]*/y
const SEPARATORS = /[ \t,]*/y
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
/** §11.2: `Negotiate YII=`. It is the whole challenge. */
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const EQUALS = /[ \t]*=[ \t]*/y
/** No character can be read in two ways, so it takes time in proportion to the length. */
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy
const END = /[ \t]*(?:,|$)/y

/** Several lines are one list (§5.3). */
export function readChallenges(lines: string | readonly string[] | undefined): Challenge[] {
  const challenges: Challenge[] = []
  for (const line of [lines ?? []].flat()) {
    const reader = new Reader(line)
    for (let next = reader.challenge(); next !== null; next = reader.challenge()) challenges.push(next)
  }
  return challenges
}

/** A list of parameters without a scheme, as in `Authentication-Info` (RFC 7616 §3.5); null if there is a mistake. */
export function readParameters(text: string): AuthParameters | null {
  const reader = new Reader(text)
  const parameters = reader.parameters()
  return reader.isAtEnd ? parameters : null
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** The next one; null at the end, and at a mistake. */
  challenge(): Challenge | null {
    this.#take(SEPARATORS)
    const scheme = this.#take(TOKEN)
    if (scheme === null) return null
    if (this.#take(BLANKS) !== '' && this.#take(TOKEN68) !== null)
      return { scheme: scheme.toLowerCase(), parameters: new Map() }
    const parameters = this.parameters()
    return parameters === null ? null : { scheme: scheme.toLowerCase(), parameters }
  }

  /** Up to the end, or to the name of the next scheme; null at a mistake. */
  parameters(): AuthParameters | null {
    const parameters = new Map<string, string>()
    while (true) {
      const start = this.#at
      const gap = this.#take(SEPARATORS)!
      const name = this.#take(TOKEN)?.toLowerCase()
      if (name === undefined) return this.isAtEnd ? parameters : null
      if (this.#take(EQUALS) === null) {
        // Another scheme, after a comma.
        this.#at = start
        return gap.includes(',') || this.#text[start - 1] === ',' ? parameters : null
      }
      const value = this.#value()
      // Of two that differ, another reader could take the other one.
      if (value === null || parameters.has(name) || this.#take(END) === null) return null
      parameters.set(name, value)
    }
  }

  #value(): string | null {
    const quoted = this.#take(QUOTED)
    return quoted === null ? this.#take(TOKEN) : quoted.slice(1, -1).replace(/\\(.)/gs, '$1')
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return null
    this.#at = pattern.lastIndex
    return match[0]
  }
}
