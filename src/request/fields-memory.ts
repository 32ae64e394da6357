/**
 * The headers that a client was given lately, and what they came to: programs send the same few lists again and
 * again, and to compare strings costs a small part of checking them.
 */
import { isPairIterable } from './headers-input.ts'
import { RequestFields } from './request-fields.ts'

/** Lists that are remembered, one for each number of fields; a power of two. */
const PLACES = 8

/** So many lists that differ in a row: the next are not compared. */
const MAX_MISSES = 8

/** Lists that are not compared before one is again. */
const SKIPPED = 64

class KnownFields {
  names: readonly unknown[] = []
  values: readonly unknown[] = []
  fields: RequestFields | null = null
  /** Lists in a row that were different; beyond `MAX_MISSES`, those that were not compared. */
  misses = 0

  /**
   * Counts one more list. Returns whether it is worth a comparison: a program that signs or traces its requests never sends
   * a list twice.
   */
  count(): boolean {
    if (this.misses < MAX_MISSES) return true
    this.misses = this.misses === MAX_MISSES + SKIPPED ? MAX_MISSES - 1 : this.misses + 1
    return false
  }
}

export class FieldsMemory {
  readonly #known: (KnownFields | null)[] = new Array<KnownFields | null>(PLACES).fill(null)
  /** For all requests without headers. */
  readonly #none = new RequestFields()

  /** The checked fields, not to be changed: other requests may have the same. Throws as `addAll` does. */
  read(headers: unknown): RequestFields {
    if (headers === undefined || headers === null) return this.#none
    if (typeof headers !== 'object') return checked(headers)
    if (Array.isArray(headers)) return headers.length % 2 === 0 ? this.#readFlat(headers) : checked(headers)
    if (isPairIterable(headers)) return checked(headers)
    // Read once, for a getter may answer differently the next time: what is remembered is what was checked.
    return this.#recall(Object.keys(headers), Object.values(headers))
  }

  #readFlat(headers: readonly unknown[]): RequestFields {
    const names: unknown[] = []
    const values: unknown[] = []
    for (let i = 0; i < headers.length; i += 2) {
      names.push(headers[i])
      values.push(headers[i + 1])
    }
    return this.#recall(names, values)
  }

  #recall(names: readonly unknown[], values: readonly unknown[]): RequestFields {
    const place = names.length & (PLACES - 1)
    let known = this.#known[place]!
    if (known === null) {
      known = new KnownFields()
      this.#known[place] = known
    } else if (!known.count()) {
      return checkedLists(names, values)
    } else if (known.fields !== null && isSame(known.names, names) && isSame(known.values, values)) {
      known.misses = 0
      return known.fields
    }
    known.misses++
    known.fields = null
    const fields = checkedLists(names, values)
    // An array may have changed when it is given again.
    if (values.every(isString)) {
      known.names = names
      known.values = values
      known.fields = fields
    }
    return fields
  }
}

function checked(headers: unknown): RequestFields {
  const fields = new RequestFields()
  fields.addAll(headers)
  return fields
}

function checkedLists(names: readonly unknown[], values: readonly unknown[]): RequestFields {
  const fields = new RequestFields()
  fields.addLists(names, values)
  return fields
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
