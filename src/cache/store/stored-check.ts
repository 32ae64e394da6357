/**
 * Checks what a store returns, as what a peer sends is checked: another program may write to the same place,
 * and a disk may fail. Whatever could not have been received is not served.
 */
import { isFieldValue, isToken } from '../../protocol/ascii.ts'
import { DURATIONS, FLAGS } from '../../relay/cache-control.ts'
import { announcedLength } from '../../relay/fields.ts'
import { isEntityTag } from '../rules/validators.ts'
import type { CacheGetResult, CacheValue } from './cache-store.ts'
import { blocksOf, sizeOf } from './found.ts'

/** The earliest and the latest time that a `Date` can have. */
const MAX_TIME = 8.64e15

/** What is wrong with a stored response; null if it could have been received. */
export function flawOf(found: CacheGetResult, method: string): string | null {
  const flaw = flawOfHead(found)
  if (flaw !== null) return flaw
  if (!isBody(found.body)) return 'body'
  const announced = method === 'HEAD' ? null : announcedLength(found)
  const blocks = announced === null ? null : blocksOf(found.body)
  return blocks !== null && sizeOf(blocks) !== announced ? 'content-length' : null
}

/** The same without its body. */
export function flawOfHead(value: CacheValue): string | null {
  if (!isRecord(value)) return 'value'
  const { statusCode, statusMessage, cachedAt, staleAt, deleteAt } = value
  // A 206 and a 304 are answers to one request.
  if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 999) return 'statusCode'
  if (statusCode === 206 || statusCode === 304) return 'statusCode'
  if (!isAbsent(statusMessage) && (typeof statusMessage !== 'string' || !isFieldValue(statusMessage)))
    return 'statusMessage'
  if (typeof cachedAt !== 'number' || !(Math.abs(cachedAt) <= MAX_TIME)) return 'cachedAt'
  if (typeof staleAt !== 'number' || Number.isNaN(staleAt)) return 'staleAt'
  if (typeof deleteAt !== 'number' || Number.isNaN(deleteAt)) return 'deleteAt'
  if (!isAbsent(value.headers) && !isFields(value.headers, false)) return 'headers'
  if (!isAbsent(value.vary) && !isFields(value.vary, true)) return 'vary'
  if (!isAbsent(value.etag) && (typeof value.etag !== 'string' || !isEntityTag(value.etag))) return 'etag'
  const directives = value.cacheControlDirectives ?? {}
  const isReadable = isRecord(directives) && Object.entries(directives).every(isDirective)
  return isReadable ? null : 'cacheControlDirectives'
}

function isFields(fields: object, mayBeNull: boolean): boolean {
  if (!isRecord(fields)) return false
  for (const name of Object.keys(fields)) {
    const value: unknown = (fields as Record<string, unknown>)[name]
    if (!isToken(name)) return false
    if (typeof value === 'string') {
      if (!isFieldValue(value)) return false
    } else if (Array.isArray(value)) {
      if (!value.every((line) => typeof line === 'string' && isFieldValue(line))) return false
    } else if (value !== null || !mayBeNull) {
      return false
    }
  }
  return true
}

/** Names that nobody knows may have any value. */
function isDirective([name, value]: [string, unknown]): boolean {
  if (value === undefined) return true
  if (DURATIONS.has(name)) return typeof value === 'number' && value >= 0
  const isList = Array.isArray(value) && value.every((field) => typeof field === 'string')
  if (name === 'no-cache' || name === 'private') return value === true || isList
  return value === true || !FLAGS.has(name)
}

/** Not its content: a stream is checked while it is read. */
function isBody(body: unknown): boolean {
  if (isAbsent(body) || isBytes(body)) return true
  if (Array.isArray(body)) return body.every(isBytes)
  if (typeof body !== 'object') return false
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = body as Record<symbol, unknown>
  return typeof later === 'function' || typeof now === 'function'
}

function isBytes(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}
