/**
 * The headers that a client was given lately, and what they came to: programs send the same few lists again and
 * again, and to compare strings costs a small part of checking them.
 */
import { isPairIterable, RequestFields } from './request-fields.ts'

/** Lists that are remembered, one for each number of fields; a power of two. */
const PLACES = 8

interface KnownFields {
  /** name, value, name, value … as the caller gave them. */
  readonly given: readonly unknown[]
  readonly fields: RequestFields
}

export class FieldsMemory {
  readonly #known: (KnownFields | null)[] = new Array<KnownFields | null>(PLACES).fill(null)

  /** The checked fields, not to be changed: other requests may have the same. Throws as `addAll` does. */
  read(headers: unknown): RequestFields {
    if (typeof headers !== 'object' || headers === null) return this.#check(headers)
    if (Array.isArray(headers)) return this.#recall([...headers])
    return isPairIterable(headers)
      ? this.#check(headers)
      : this.#readObject(headers as Record<string, unknown>)
  }

  /** Compares while it reads, and makes a list only from the first difference on. */
  #readObject(headers: Record<string, unknown>): RequestFields {
    const names = Object.keys(headers)
    const known = this.#known[placeOf(names.length)]!
    let given: unknown[] | null = known?.given.length === 2 * names.length ? null : []
    for (let i = 0; i < names.length; i++) {
      // Read once, for a getter may answer differently the next time: what is remembered is what was checked.
      const name = names[i]!
      const value = headers[name]
      if (given === null) {
        if (known!.given[2 * i] === name && known!.given[2 * i + 1] === value) continue
        given = known!.given.slice(0, 2 * i)
      }
      given.push(name, value)
    }
    return given === null ? known!.fields : this.#remember(given)
  }

  #recall(given: unknown[]): RequestFields {
    const known = this.#known[placeOf(given.length >>> 1)]!
    return known !== null && isSame(known.given, given) ? known.fields : this.#remember(given)
  }

  #remember(given: unknown[]): RequestFields {
    const fields = this.#check(given)
    // An array may have changed when it is given again.
    this.#known[placeOf(given.length >>> 1)] = given.every(isString) ? { given, fields } : null
    return fields
  }

  #check(headers: unknown): RequestFields {
    const fields = new RequestFields()
    fields.addAll(headers)
    return fields
  }
}

function placeOf(fields: number): number {
  return fields & (PLACES - 1)
}

function isSame(known: readonly unknown[], given: readonly unknown[]): boolean {
  if (known.length !== given.length) return false
  for (let i = 0; i < given.length; i++) {
    if (known[i] !== given[i]) return false
  }
  return true
}

function isString(part: unknown): boolean {
  return typeof part === 'string'
}
