/**
 * The fields of a request or a response, as the Fetch standard keeps them: in order, each name once, in the
 * spelling it first had. A received list stays in its original object until it is modified or iterated,
 * because most callers read one field or none. Validates nothing.
 */
import type { HeaderObject } from '../../protocol/header-block.ts'

/** A name in lower case, and its value. */
export type HeaderPair = [name: string, value: string]

/** Its values are never joined, because the date of a cookie contains a comma. */
const SET_COOKIE = 'set-cookie'

interface Field {
  readonly name: string
  /** An array for `set-cookie` only. */
  value: string | string[]
}

export class HeaderList {
  #received: HeaderObject | null
  /** What was received, or given, has names in lower case and strings as values. */
  #isPlain = false
  /** By lower-case name; null while the list is unchanged since it was received. */
  #fields: Map<string, Field> | null = null
  #sorted: readonly HeaderPair[] | null = null

  constructor(received: HeaderObject | null = null) {
    this.#received = received
  }

  get isEmpty(): boolean {
    return this.#received === null && (this.#fields === null || this.#fields.size === 0)
  }

  /** Takes over an object with names in lower case and strings as values. Only for an empty list. */
  keep(plain: Record<string, string>): void {
    this.#received = plain
    this.#isPlain = true
  }

  /** `lower` is the name in lower case, here and in the other methods. */
  get(lower: string): string | null {
    const value = this.#value(lower)
    return value === undefined ? null : joined(lower, value)
  }

  has(lower: string): boolean {
    return this.#value(lower) !== undefined
  }

  /** The values of `set-cookie`, one by one. */
  setCookies(): string[] {
    const value = this.#value(SET_COOKIE)
    return value === undefined ? [] : [kept(SET_COOKIE, value)].flat()
  }

  append(name: string, lower: string, value: string): void {
    const fields = this.#writable()
    const present = fields.get(lower)
    if (present === undefined) {
      fields.set(lower, { name, value: lower === SET_COOKIE ? [value] : value })
    } else if (typeof present.value === 'string') {
      present.value = `${present.value}${separatorOf(lower)}${value}`
    } else {
      present.value.push(value)
    }
  }

  /** Adds the field unless it is there. */
  fill(lower: string, value: string): void {
    if (!this.has(lower)) this.append(lower, lower, value)
  }

  set(name: string, lower: string, value: string): void {
    const fields = this.#writable()
    const present = fields.get(lower)
    fields.set(lower, { name: present?.name ?? name, value: lower === SET_COOKIE ? [value] : value })
  }

  delete(lower: string): void {
    if (this.has(lower)) this.#writable().delete(lower)
  }

  /** Sorted by name. Cached until the next write. */
  sorted(): readonly HeaderPair[] {
    this.#sorted ??= this.#sort()
    return this.#sorted
  }

  /** In order of first appearance, with the names in their original spelling. */
  forEach(visit: (name: string, lower: string, value: string | string[]) => void): void {
    const received = this.#received
    if (received !== null && this.#isPlain) {
      for (const name of Object.keys(received)) visit(name, name, received[name]!)
      return
    }
    for (const [lower, { name, value }] of this.#map()) visit(name, lower, value)
  }

  copy(): HeaderList {
    const copy = new HeaderList()
    if (this.isEmpty) return copy
    if (this.#received !== null && this.#isPlain) {
      copy.keep({ ...this.#received } as Record<string, string>)
      return copy
    }
    const fields = new Map<string, Field>()
    for (const [lower, { name, value }] of this.#map()) {
      fields.set(lower, { name, value: typeof value === 'string' ? value : [...value] })
    }
    copy.#fields = fields
    return copy
  }

  /**
   * Our engines deliver lower-case names and strings. Interceptors and other dispatchers may add anything.
   */
  #value(lower: string): string | string[] | undefined {
    const received = this.#received
    if (received === null) return this.#fields?.get(lower)?.value
    if (Object.hasOwn(received, lower)) return received[lower] ?? undefined
    if (this.#isPlain) return undefined
    for (const name in received) {
      if (name.length !== lower.length || name.toLowerCase() !== lower) continue
      if (Object.hasOwn(received, name)) return received[name] ?? undefined
    }
    return undefined
  }

  #sort(): readonly HeaderPair[] {
    const pairs: HeaderPair[] = []
    this.forEach((_name, lower, value) => {
      if (typeof value === 'string') pairs.push([lower, value])
      else for (const one of value) pairs.push([lower, one])
    })
    // Stable, so that cookies stay in order. Names are ASCII, so comparing the strings compares their bytes.
    return pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  }

  #writable(): Map<string, Field> {
    this.#sorted = null
    return this.#map()
  }

  #map(): Map<string, Field> {
    if (this.#fields !== null) return this.#fields
    const received = this.#received
    const fields = new Map<string, Field>()
    this.#received = null
    this.#fields = fields
    if (received === null) return fields
    for (const name of Object.keys(received)) {
      const value = received[name] ?? undefined
      if (value === undefined) continue
      const lower = name.toLowerCase()
      if (!fields.has(lower)) fields.set(lower, { name, value: kept(lower, value) })
      else for (const one of [value].flat()) this.append(name, lower, String(one))
    }
    return fields
  }
}

function kept(lower: string, value: string | string[]): string | string[] {
  if (lower !== SET_COOKIE) return joined(lower, value)
  return Array.isArray(value) ? [...value] : [String(value)]
}

function joined(lower: string, value: string | string[]): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join(separatorOf(lower)) : String(value)
}

/** RFC 9113 §8.2.3 allows a sender to split `cookie`; the parts must not be joined with a comma. */
function separatorOf(lower: string): string {
  return lower === 'cookie' ? '; ' : ', '
}
