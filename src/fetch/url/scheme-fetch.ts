/**
 * Fetches `data:` and `blob:` URLs, which need no network, and has the error messages for unsupported
 * schemes.
 */
import { type Blob, resolveObjectURL } from 'node:buffer'
import { Body } from '../body/body.ts'
import { HeaderList } from '../headers/header-list.ts'
import type { RequestRecord } from '../init.ts'
import { parseMimeType, serializeMimeType } from '../mime/mime-type.ts'
import type { ResponseRecord } from '../response.ts'
import { parseDataUrl } from './data-url.ts'

interface Fetched {
  readonly answer: ResponseRecord
  readonly body: Body
}

/** Throws the cause of the failure. */
export function fetchScheme(record: RequestRecord): Fetched {
  switch (record.url.protocol) {
    case 'about:':
      throw new Error('about scheme is not supported')
    case 'file:':
      throw new Error('not implemented... yet...')
    case 'data:':
      return fetchData(record)
    case 'blob:':
      return fetchBlob(record)
    default:
      throw new Error('unknown scheme')
  }
}

function answered(
  record: RequestRecord,
  status: number,
  statusText: string,
  fields: Record<string, string>,
): ResponseRecord {
  const headers = new HeaderList()
  for (const [name, value] of Object.entries(fields)) headers.append(name, name, value)
  const url = record.url.withoutFragment
  return { type: 'basic', status, statusText, headers, guard: 'immutable', url, redirected: false }
}

function fetchData(record: RequestRecord): Fetched {
  const data = parseDataUrl(record.url.url)
  if (data === null) throw new Error('failed to fetch the data URL')
  return {
    answer: answered(record, 200, 'OK', { 'content-type': data.mimeType }),
    body: new Body(data.body),
  }
}

function fetchBlob(record: RequestRecord): Fetched {
  if (record.method !== 'GET') throw new Error('invalid method')
  const { url } = record.url
  const blob = url.search === '' ? resolveObjectURL(record.url.withoutFragment) : undefined
  if (blob === undefined) throw new Error('the blob URL is not registered')
  const fields = { 'content-length': String(blob.size), 'content-type': contentTypeOf(blob) }
  const range = record.headers.get('range')
  if (range === null) return { answer: answered(record, 200, 'OK', fields), body: bodyOf(blob) }
  const bounds = parseRange(range, blob.size)
  if (bounds === null) throw new Error('failed to fetch the data URL')
  const [start, end] = bounds
  const part = blob.slice(start, end + 1, blob.type)
  fields['content-length'] = String(part.size)
  const ofPart = { ...fields, 'content-range': `bytes ${start}-${end}/${blob.size}` }
  return { answer: answered(record, 206, 'Partial Content', ofPart), body: bodyOf(part) }
}

function bodyOf(blob: Blob): Body {
  return new Body({ length: blob.size, chunks: () => blob.stream() as AsyncIterable<Uint8Array> })
}

function contentTypeOf(blob: Blob): string {
  const type = parseMimeType(blob.type)
  return type === null ? '' : serializeMimeType(type)
}

/**
 * The first and last byte of a single range, with the last one limited by `size`; null if it is not a valid
 * range.
 */
function parseRange(value: string, size: number): [start: number, end: number] | null {
  const match = /^bytes[\t ]*=[\t ]*(\d*)[\t ]*-[\t ]*(\d*)$/.exec(value)
  if (match === null) return null
  const [, from, to] = match as unknown as [string, string, string]
  if (from === '' && to === '') return null
  if (from === '') {
    const start = Math.max(0, size - Number(to))
    return [start, size - 1]
  }
  const start = Number(from)
  if (start >= size || (to !== '' && Number(to) < start)) return null
  return [start, to === '' ? size - 1 : Math.min(Number(to), size - 1)]
}
