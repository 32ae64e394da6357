/**
 * The headers that a client was given lately, and what they came to: programs send the same few lists again and
 * again, and to compare strings costs a small part of checking them.
 */
import { isPairIterable, type PseudoPolicy, RequestFields } from './request-fields.ts'

/** Lists that are remembered, one for each number of fields; a power of two. */
const PLACES = 8

interface KnownFields {
  /** name, value, name, value … as the caller gave them. */
  readonly given: readonly unknown[]
  readonly fields: RequestFields
}

export class FieldsMemory {
  readonly #pseudo: PseudoPolicy
  readonly #known: (KnownFields | null)[] = new Array<KnownFields | null>(PLACES).fill(null)

  constructor(pseudo: PseudoPolicy) {
    this.#pseudo = pseudo
  }

  /** The checked fields, not to be changed: other requests may have the same. Throws as `addAll` does. */
  read(headers: unknown): RequestFields {
    // Read once, for a getter may answer differently the next time: what is remembered is what was checked.
    const given = flatten(headers)
    if (given === null) return this.#check(headers)
    const place = (given.length >>> 1) & (PLACES - 1)
    const known = this.#known[place]!
    if (known !== null && isSame(known.given, given)) return known.fields
    const fields = this.#check(given)
    // An array may have changed when it is given again.
    this.#known[place] = given.every(isString) ? { given, fields } : null
    return fields
  }

  #check(headers: unknown): RequestFields {
    const fields = new RequestFields(this.#pseudo)
    fields.addAll(headers)
    return fields
  }
}

/** A flat list of plain objects and flat lists; null for anything else. */
function flatten(headers: unknown): unknown[] | null {
  if (typeof headers !== 'object' || headers === null) return null
  if (Array.isArray(headers)) return [...headers]
  if (isPairIterable(headers)) return null
  const given: unknown[] = []
  for (const name of Object.keys(headers)) given.push(name, (headers as Record<string, unknown>)[name])
  return given
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
