/**
 * The headers that a client was given lately, and what they came to: programs send the same few lists again and
 * again, and to compare strings costs a small part of checking them.
 */
import { Repetition } from '../base/repetition.ts'
import { isPairIterable } from './headers-input.ts'
import { RequestFields } from './request-fields.ts'

/** Lists that are remembered, one for each number of fields; a power of two. */
const PLACES = 8

class KnownFields {
  names: readonly unknown[] = []
  values: readonly unknown[] = []
  fields: RequestFields | null = null
  readonly repetition = new Repetition()
}

export class FieldsMemory {
  readonly #known: (KnownFields | null)[] = new Array<KnownFields | null>(PLACES).fill(null)
  /** For all requests without headers. */
  readonly #none = new RequestFields()

  /** The checked fields, not to be changed: other requests may have the same. Throws as `addAll` does. */
  read(headers: unknown): RequestFields {
    if (headers === undefined || headers === null) return this.#none
    if (typeof headers !== 'object') return checked(headers)
    if (Array.isArray(headers))
      return headers.length % 2 === 0 && !Array.isArray(headers[0])
        ? this.#readFlat(headers)
        : checked(headers)
    if (isPairIterable(headers)) return checked(headers)
    const names = Object.keys(headers)
    const known = this.#knownFor(names.length)
    if (!known.repetition.count()) return checkedObject(headers as Record<string, unknown>, names)
    // Read once, for a getter may answer differently the next time: what is remembered is what was checked.
    return recall(known, names, Object.values(headers))
  }

  #readFlat(headers: readonly unknown[]): RequestFields {
    const known = this.#knownFor(headers.length >> 1)
    if (!known.repetition.count()) return checked(headers)
    const names: unknown[] = []
    const values: unknown[] = []
    for (let i = 0; i < headers.length; i += 2) {
      names.push(headers[i])
      values.push(headers[i + 1])
    }
    return recall(known, names, values)
  }

  #knownFor(count: number): KnownFields {
    const place = count & (PLACES - 1)
    this.#known[place] ??= new KnownFields()
    return this.#known[place]
  }
}

function recall(known: KnownFields, names: readonly unknown[], values: readonly unknown[]): RequestFields {
  if (known.fields !== null && isSame(known.names, names) && isSame(known.values, values)) {
    known.repetition.onSame()
    return known.fields
  }
  known.repetition.onDifferent()
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

function checked(headers: unknown): RequestFields {
  const fields = new RequestFields()
  fields.addAll(headers)
  return fields
}

function checkedObject(headers: Record<string, unknown>, names: readonly string[]): RequestFields {
  const fields = new RequestFields()
  for (const name of names) fields.add(name, headers[name])
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
