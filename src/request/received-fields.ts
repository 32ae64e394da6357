/** Received fields in the forms that handlers and callers want them in. */
import { setOwn } from '../base/object/own-record.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'

/**
 * Fields as a controller has kept them: names and values by turns, or, as undici does for HTTP/2, by name.
 */
export type RawFields = Buffer[] | string[] | HeaderObject | null

/** Names and values by turns: the same list if it is one of Buffers. */
export function rawList(fields: RawFields | undefined): Buffer[] | null {
  if (!fields) return null
  const list = Array.isArray(fields) ? fields : flatFields(fields)
  return isText(list) ? toBuffers(list) : list
}

function isText(list: Buffer[] | string[]): list is string[] {
  return typeof list[0] === 'string'
}

/** Names and values by turns, for a dispatcher that does not keep the fields as received. */
export function flatFields(fields: HeaderObject | null | undefined): string[] {
  const flat: string[] = []
  if (fields === null || fields === undefined) return flat
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    // An interceptor may have put there what a header block never has: nothing, or a number.
    if (Array.isArray(value)) for (const one of value) flat.push(name, String(one))
    else if (value !== undefined && value !== null) flat.push(name, String(value))
  }
  return flat
}

/** Adds received fields as own data properties: a peer may name one `__proto__`. */
export function copyFields(target: HeaderObject, fields: HeaderObject | null | undefined): void {
  if (fields === null || fields === undefined) return
  for (const name of Object.keys(fields)) setOwn(target, name, fields[name]!)
}
