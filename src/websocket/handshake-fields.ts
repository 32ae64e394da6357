/**
 * The header fields of an opening handshake. Dispatchers and interceptors get them as a plain object, like
 * those of `fetch`, so that they can read and change them. A name keeps the letter case of its first use;
 * further values of the same name are appended.
 */

/** Fields that the dispatcher or the handshake sets. */
const NOT_OF_THE_CALLER: ReadonlySet<string> = new Set([
  'host',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
])

export class HandshakeFields {
  /** By lower-case name. */
  readonly #fields = new Map<string, { readonly name: string; readonly value: string }>()

  get(name: string): string | null {
    return this.#fields.get(name)?.value ?? null
  }

  /** Adds a field of the caller. */
  append(name: string, value: string): void {
    const key = name.toLowerCase()
    if (NOT_OF_THE_CALLER.has(key)) return
    const before = this.#fields.get(key)
    if (before === undefined) {
      this.#fields.set(key, { name, value })
    } else {
      const separator = key === 'cookie' ? '; ' : ', '
      this.#fields.set(key, { name: before.name, value: before.value + separator + value })
    }
  }

  /** Replaces a value of the caller. */
  set(name: string, value: string): void {
    this.#fields.delete(name)
    this.#fields.set(name, { name, value })
  }

  /** Sets a field unless the caller has. */
  fill(name: string, value: string): void {
    if (!this.#fields.has(name)) this.#fields.set(name, { name, value })
  }

  toObject(): Record<string, string> {
    return Object.fromEntries(Array.from(this.#fields.values(), ({ name, value }) => [name, value]))
  }
}
