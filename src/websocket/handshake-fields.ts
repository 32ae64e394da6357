/**
 * The header fields of an opening handshake. Dispatchers and interceptors get them as a plain object, as they get
 * those of `fetch`: that is what they know how to read and to change. A name keeps the letter case of whoever gave it
 * first; the same name again adds to its value.
 */

/** Fields that the dispatcher or the handshake says itself. */
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

  /** One of the caller's. */
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

  /** In place of what the caller may have said. */
  set(name: string, value: string): void {
    this.#fields.delete(name)
    this.#fields.set(name, { name, value })
  }

  /** Unless the caller has said it. */
  fill(name: string, value: string): void {
    if (!this.#fields.has(name)) this.#fields.set(name, { name, value })
  }

  toObject(): Record<string, string> {
    return Object.fromEntries(Array.from(this.#fields.values(), ({ name, value }) => [name, value]))
  }
}
