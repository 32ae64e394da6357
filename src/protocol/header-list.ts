/**
 * Checked fields of a request. The HTTP/1.1 encoder takes nothing else, the fields of an HTTP/2 request are
 * made from it, and every field passes the checks below, so no string can end or fold a header line on the
 * wire (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../base/error/invariant.ts'
import { isFieldValue } from './ascii.ts'
import { isFieldName } from './header-names.ts'

export type FieldValue = string | string[]

export class HeaderList {
  /** name, value, name, value …; a value that is an array is sent as one line for each element. */
  readonly flat: FieldValue[] = []

  /** Adds a field whose name is known to be a token; false when the value has illegal characters. */
  append(name: string, value: FieldValue): boolean {
    invariant(isFieldName(name), 'field name was not checked')
    if (!isValue(value)) return false
    this.flat.push(name, value)
    return true
  }
}

function isValue(value: FieldValue): boolean {
  return typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
}
