/**
 * Fields on their way out. The encoders take nothing else, and nothing gets in here without passing the
 * checks below, so no string can end or fold a header line on the wire (CVE-2022-31150 and its relatives).
 */
import { invariant } from '../base/invariant.ts'
import { isFieldValue } from './ascii.ts'
import type { ProtocolFailure } from './failure.ts'
import { isFieldName } from './header-names.ts'

export type FieldValue = string | string[]

/** Fields as HTTP/2 has them beside the pseudo fields. */
export interface OrdinaryFields {
  /** Flat, names in lower case, each value a string; behind the pseudo fields of most requests, still without values. */
  readonly template: readonly string[]
  /** Becomes a pseudo field. */
  readonly host: string | null
}

/** The end of an HTTP/1.1 head: all but the method and the target. */
export interface Http1Rest {
  readonly host: string
  readonly connection: string
  readonly text: string
}

export class HeaderList {
  /** name, value, name, value …; a value that is an array is sent as one line for each element. */
  readonly flat: FieldValue[] = []
  // What the encoders have made of the list, which is sent again and again.
  http1Rest: Http1Rest | null = null
  http2Fields: OrdinaryFields | ProtocolFailure | null = null

  /** Adds a field whose name is known to be a token; false when the value has illegal characters. */
  append(name: string, value: FieldValue): boolean {
    invariant(isFieldName(name), 'field name was not checked')
    if (!isValue(value)) return false
    this.flat.push(name, value)
    this.http1Rest = null
    this.http2Fields = null
    return true
  }
}

function isValue(value: FieldValue): boolean {
  return typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
}
