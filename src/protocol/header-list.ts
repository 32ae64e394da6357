/**
 * Checked fields of a request. The HTTP/1.1 encoder takes nothing else, the fields of an HTTP/2 request are
 * made from it, and every field passes the checks below, so no string can end or fold a header line on the
 * wire (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../base/invariant.ts'
import { isFieldValue } from './ascii.ts'
import { isFieldName } from './header-names.ts'

export type FieldValue = string | string[]

export class HeaderList {
  /** name, value, name, value …; a value that is an array is sent as one line for each element. */
  readonly flat: FieldValue[] = []
  /**
   * The encoded form of the list, for the next request that sends it. Each belongs to the encoder of its
   * protocol, and only that knows its type.
   */
  http1Memo: unknown = null
  http2Memo: unknown = null

  /** Adds a field whose name is known to be a token; false when the value has illegal characters. */
  append(name: string, value: FieldValue): boolean {
    invariant(isFieldName(name), 'field name was not checked')
    if (!isValue(value)) return false
    this.flat.push(name, value)
    this.http1Memo = null
    this.http2Memo = null
    return true
  }
}

function isValue(value: FieldValue): boolean {
  return typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
}
