/** The body of a request as it is stored: our form, and the text that undici stores for the same body. */
import { bytesOf, isForm, textOrBytes } from '../mock-body.ts'
import type { SnapshotRequest } from './snapshot.ts'
import type { SnapshotRecorderOptions } from './snapshot-options.ts'

type Fields = Readonly<Record<string, string>>
type StoredBody = Pick<SnapshotRequest, 'body' | 'bodyEncoding'>

const MULTIPART = /^(multipart\/form-data; *boundary=)"?([^";]+)"?$/i

/** Replaces the random boundary, which would make every form a new request. */
const BOUNDARY = '----boundary'

/** `content` is the body after it was collected. */
export function storedBody(
  content: unknown,
  fields: Fields,
  { matchBody, normalizeBody }: SnapshotRecorderOptions,
): StoredBody {
  if (matchBody === false) return { body: '' }
  const bytes = bytesOf(content)
  const body = bytes === null ? content : textOrBytes(withoutBoundary(bytes, fields))
  if (normalizeBody !== undefined) return { body: normalizeBody(body as string) }
  if (isForm(body)) return { body: formText(body) }
  return encodedBody(typeof body === 'string' || Buffer.isBuffer(body) ? body : '')
}

/** Bytes that are not text are stored in base64. */
export function encodedBody(content: string | Buffer): StoredBody {
  if (typeof content === 'string') return { body: content }
  return { body: content.toString('base64'), bodyEncoding: 'base64' }
}

function withoutBoundary(bytes: Buffer, fields: Fields): Buffer {
  const boundary = MULTIPART.exec(fields['content-type'] ?? '')?.[2]
  if (boundary === undefined) return bytes
  return Buffer.from(bytes.toString('latin1').replaceAll(boundary, BOUNDARY), 'latin1')
}

/** The value of a `content-type` field, with the same boundary for all forms. */
export function storedContentType(value: string): string {
  return value.replace(MULTIPART, `$1${BOUNDARY}`)
}

/** Files by their metadata: reading them is asynchronous. */
function formText(form: Iterable<[string, unknown]>): string {
  const entries = Array.from(form, ([name, value]) => {
    if (typeof value === 'string') return [name, value]
    const { name: fileName, type, size } = value as { name?: string; type?: string; size?: number }
    return [name, { name: fileName, type, size }]
  })
  return JSON.stringify(entries)
}

/** The text that undici stores and looks up: the body converted to a string. */
export function undiciBody(body: unknown, fields: Fields): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  const bytes = bytesOf(body)
  if ('sec-fetch-mode' in fields) {
    if (MULTIPART.test(fields['content-type'] ?? '')) return '[object FormData]'
    if (bytes !== null) return bytes.join(',')
    const tag = tagOf(body)
    // Our `fetch` passes on the chunks of a Blob or a stream, and only the length of a Blob is known.
    if (tag !== '[object Object]') return tag
    return 'content-length' in fields ? '[object Blob]' : '[object ReadableStream]'
  }
  return ArrayBuffer.isView(body) ? String(body) : tagOf(body)
}

function tagOf(body: unknown): string {
  return Object.prototype.toString.call(body)
}
