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
  /** More than one request sends it, so it is worth keeping what the encoders make of it. */
  isRepeated = false
  #start = ''
  #text = ''
  /** Kept by `requestFields` of HTTP/2, which alone knows their form. */
  http2Fields: readonly string[] | null = null

  /**
   * `start` and the fields as HTTP/1.1 sends them, in the order and letter case given: one line for each
   * element of an array. What is kept is in one piece: a text that was added up is a tree, and copied piece
   * by piece.
   */
  linesAfter(start: string): string {
    if (!this.isRepeated) return addLines(start, this.flat)
    if (start !== this.#start) {
      this.#start = start
      this.#text = Buffer.from(addLines(start, this.flat), 'latin1').toString('latin1')
    }
    return this.#text
  }

  /** Adds a field whose name is known to be a token; false when the value has illegal characters. */
  append(name: string, value: FieldValue): boolean {
    invariant(isFieldName(name), 'field name was not checked')
    invariant(!this.isRepeated, 'list of several requests was changed')
    if (!isValue(value)) return false
    this.flat.push(name, value)
    return true
  }
}

function isValue(value: FieldValue): boolean {
  return typeof value === 'string' ? isFieldValue(value) : value.every(isFieldValue)
}

function addLines(start: string, flat: readonly FieldValue[]): string {
  let text = start
  for (let i = 0; i < flat.length; i += 2) {
    // Names stand at even places and are never arrays.
    const name = flat[i] as string
    const value = flat[i + 1]!
    if (typeof value === 'string') text += `${name}: ${value}\r\n`
    else for (const item of value) text += `${name}: ${item}\r\n`
  }
  return text
}
