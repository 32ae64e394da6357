/** Applies a caller's conditions and ranges to a stored response (RFC 9110 §13.2, §14.2). */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { copyHeaders, fieldLines, fieldText, hasField, singleField, trimmed } from '../../relay/fields.ts'
import type { RequestView } from '../../relay/request-view.ts'
import type { Head } from '../../relay/response-source.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { dateField } from './date-field.ts'
import { isWeak, listsTag } from './validators.ts'

/** The part of a body that a response has: from `start` up to the byte before `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export type Presentation =
  | { readonly kind: 'whole' }
  | { readonly kind: 'not-modified' }
  | { readonly kind: 'part'; readonly range: ByteRange; readonly length: number }
  | { readonly kind: 'unsatisfiable'; readonly length: number }

export const WHOLE: Presentation = { kind: 'whole' }
const NOT_MODIFIED: Presentation = { kind: 'not-modified' }

/** Fields of a 304 (RFC 9110 §15.4.5) besides those that a cache adds. */
const OF_NOT_MODIFIED = 'cache-control content-location date etag expires last-modified vary'.split(' ')

/** How a stored response answers this request. `length` of the body is null if it is not known. */
export function presentationOf(entry: CacheValue, view: RequestView, length: number | null): Presentation {
  const { headers: request, key } = view
  if (entry.statusCode !== 200) return WHOLE
  if (isUnmodified(entry, request)) return NOT_MODIFIED
  const range = fieldLines(request, 'range')
  const isPart = typeof range === 'string' && key.method === 'GET' && length !== null
  return isPart && rangeApplies(entry, request) ? partOf(range, length) : WHOLE
}

function isUnmodified(entry: CacheValue, request: HeaderObject): boolean {
  const ifNoneMatch = fieldText(request, 'if-none-match')
  if (ifNoneMatch !== null) return listsTag(ifNoneMatch, entry.etag ?? null)
  const time = dateField(request, 'if-modified-since')
  const modified = time === null ? null : dateField(entry.headers, 'last-modified')
  return modified !== null && modified <= time!
}

/** If-Range needs a strong validator. A date is one only if it is that of the response (RFC 9110 §13.1.5). */
function rangeApplies(entry: CacheValue, request: HeaderObject): boolean {
  const given = fieldLines(request, 'if-range')
  if (given === undefined) return true
  if (typeof given !== 'string') return false
  if (given.includes('"'))
    return entry.etag !== undefined && !isWeak(entry.etag) && trimmed(given) === entry.etag
  return singleField(entry.headers, 'last-modified') === given
}

/** One range of bytes; a list of several, or another unit, gets the whole. */
function partOf(text: string, length: number): Presentation {
  const match = /^bytes=\s*([0-9]{0,15})-([0-9]{0,15})\s*$/i.exec(text)
  if (match === null || (match[1] === '' && match[2] === '')) return WHOLE
  const isSuffix = match[1] === ''
  const start = isSuffix ? Math.max(0, length - Number(match[2])) : Number(match[1])
  const last = isSuffix || match[2] === '' ? length - 1 : Number(match[2])
  if (!isSuffix && last < start && match[2] !== '') return WHOLE
  if (start >= length) return { kind: 'unsatisfiable', length }
  return { kind: 'part', range: { start, end: Math.min(length, last + 1) }, length }
}

/** The head that the caller gets. */
export function presentedHead(entry: CacheValue, presentation: Presentation): Head {
  const { statusCode, statusMessage: statusText } = entry
  switch (presentation.kind) {
    case 'whole':
      return { statusCode, headers: copyHeaders(entry.headers), statusText }
    case 'not-modified': {
      const headers = copyHeaders(pick(entry.headers, OF_NOT_MODIFIED))
      return { statusCode: 304, headers, statusText: 'Not Modified' }
    }
    case 'part': {
      const headers = copyHeaders(entry.headers)
      const { start, end } = presentation.range
      headers['content-length'] = String(end - start)
      headers['content-range'] = `bytes ${start}-${end - 1}/${presentation.length}`
      return { statusCode: 206, headers, statusText: 'Partial Content' }
    }
    case 'unsatisfiable': {
      const headers = copyHeaders(pick(entry.headers, ['date']))
      headers['content-range'] = `bytes */${presentation.length}`
      headers['content-length'] = '0'
      return { statusCode: 416, headers, statusText: 'Range Not Satisfiable' }
    }
  }
}

function pick(headers: HeaderObject, names: readonly string[]): HeaderObject {
  const picked: HeaderObject = {}
  for (const name of names) if (hasField(headers, name)) picked[name] = headers[name]!
  return picked
}
