/**
 * Fields on their way out. The encoders take nothing else, and nothing gets in here without passing the
 * checks below, so no string can end or fold a header line on the wire (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../base/invariant.ts'
import { isFieldValue, isToken } from './ascii.ts'

export type FieldValue = string | string[]

export class HeaderList {
  /** name, value, name, value …; a value that is an array is sent as one line for each element. */
  readonly flat: FieldValue[] = []

  /** Takes the live array of a request whose fields somebody else may have changed, and checks all of it. */
  static recheck(flat: readonly unknown[]): HeaderList | null {
    if (flat.length % 2 !== 0) return null
    const list = new HeaderList()
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i]
      const value = flat[i + 1]
      if (typeof name !== 'string' || !isToken(name) || !isValue(value)) return null
      list.flat.push(name, value)
    }
    return list
  }

  /** Adds a field whose name is known to be a token; false when the value has illegal characters. */
  append(name: string, value: FieldValue): boolean {
    invariant(isToken(name), 'field name was not checked')
    if (!isValue(value)) return false
    this.flat.push(name, value)
    return true
  }
}

function isValue(value: unknown): value is FieldValue {
  if (typeof value === 'string') return isFieldValue(value)
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && isFieldValue(item))
}
