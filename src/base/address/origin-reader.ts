/** Reads the origins of requests: `http://h`, `http://h/` and `HTTP://H:80` are one. */

/** Normalised origins by the text that was given: programs talk to a few of them. */
const MAX_ORIGINS = 256

export class OriginReader {
  readonly #known = new Map<string, string | null>()

  /** Null for anything that is not an http(s) origin: a dispatcher will refuse it. */
  read(origin: unknown): string | null {
    const text = typeof origin === 'string' ? origin : origin instanceof URL ? origin.origin : null
    if (text === null) return null
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const normalised = normalise(text)
    if (this.#known.size >= MAX_ORIGINS) this.#known.clear()
    this.#known.set(text, normalised)
    return normalised
  }
}

function normalise(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, host } = new URL(text)
  return protocol === 'http:' || protocol === 'https:' ? `${protocol}//${host}` : null
}
