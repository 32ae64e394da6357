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

const UNSUPPORTED: Readonly<Record<string, string>> = {
  'about:': 'about scheme is not supported',
  'file:': 'not implemented... yet...',
}

/** Throws the cause of the failure. */
export function fetchScheme(record: RequestRecord): ResponseRecord {
  const { protocol } = record.url
  if (protocol === 'data:') return fetchData(record)
  if (protocol === 'blob:') return fetchBlob(record)
  throw new Error(UNSUPPORTED[protocol] ?? 'unknown scheme')
}

function answered({ url }: RequestRecord, fields: Record<string, string>, body: Body): ResponseRecord {
  const status = 'content-range' in fields ? 206 : 200
  return {
    type: 'basic',
    status,
    statusText: status === 200 ? 'OK' : 'Partial Content',
    headers: new HeaderList(fields),
    body,
    guard: 'immutable',
    url: url.withoutFragment,
    redirected: false,
  }
}

function fetchData(record: RequestRecord): ResponseRecord {
  const data = parseDataUrl(record.url.url)
  if (data === null) throw new Error('failed to fetch the data URL')
  return answered(record, { 'content-type': data.mimeType }, new Body(data.body))
}

function fetchBlob(record: RequestRecord): ResponseRecord {
  if (record.method !== 'GET') throw new Error('invalid method')
  const { url } = record.url
  const blob = url.search === '' ? resolveObjectURL(record.url.withoutFragment) : undefined
  if (blob === undefined) throw new Error('the blob URL is not registered')
  const range = record.headers.get('range')
  const bounds = range === null ? [0, blob.size - 1] : parseRange(range, blob.size)
  if (bounds === null) throw new Error('failed to fetch the data URL')
  const [start, end] = bounds as [number, number]
  const part = blob.slice(start, end + 1, blob.type)
  const fields: Record<string, string> = {
    'content-length': String(part.size),
    'content-type': contentTypeOf(blob),
  }
  if (range !== null) fields['content-range'] = `bytes ${start}-${end}/${blob.size}`
  const chunks = (): AsyncIterable<Uint8Array> => part.stream() as AsyncIterable<Uint8Array>
  return answered(record, fields, new Body({ length: part.size, chunks }))
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
