/**
 * Snapshots as HTTP Archive 1.2, which browsers export. Its bodies are decoded, so fields such as
 * content-encoding are dropped on reading, unless we could not decode a body.
 */

import { kMaxLength } from 'node:buffer'
import { parseUrl } from '../../base/address/parse-url.ts'
import { isDecodable, readCodings } from '../../content-coding/decoders.ts'
import { decodeWhole } from '../../content-coding/whole-body.ts'
import { textOrBytes } from '../mock-body.ts'
import { statusText } from '../reply/status-text.ts'
import type { Snapshot, SnapshotRequest, SnapshotResponse } from './snapshot.ts'
import { encodedBody } from './snapshot-body.ts'

type HarField = Readonly<Record<'name' | 'value', string>>

interface HarBody {
  readonly mimeType?: string
  readonly text?: string
  readonly encoding?: string
  readonly params?: readonly Partial<HarField>[]
  /** Our extension: the body could not be decoded, and is stored encoded. */
  readonly _isCoded?: boolean
}

interface HarEntry {
  readonly startedDateTime?: string
  readonly time?: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers?: readonly HarField[]
    readonly postData?: HarBody
  }
  readonly response: {
    readonly status: number
    readonly headers?: readonly HarField[]
    readonly content?: HarBody
  }
}

/** Fields that describe the transfer, not the decoded body. */
const OF_TRANSFER = new Set([
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
])

/** One snapshot for each entry; the recorder merges those of the same request. */
export function parseHar(value: unknown): Snapshot[] {
  const entries = (value as { log?: { entries?: unknown } } | null)?.log?.entries
  if (!Array.isArray(entries)) throw new TypeError('an HTTP Archive has log.entries')
  // Browsers list failed requests with the status 0.
  const answered = (entries as HarEntry[]).filter(({ response }) => response.status >= 200)
  return answered.map(({ request, response, startedDateTime = new Date(0).toISOString(), time }) => {
    const fields = [...valuesByName(request.headers)].map(([name, values]) => [name, values.join(', ')])
    return {
      request: {
        method: request.method,
        url: parseUrl(request.url).href.split('#', 1)[0]!,
        headers: Object.fromEntries(fields) as Record<string, string>,
        ...readBody(request.postData),
      },
      responses: [readResponse(response, time)],
      callCount: 0,
      timestamp: startedDateTime,
    }
  })
}

/** As a recorded body: bytes that are valid UTF-8 as text. */
function readBody(data: HarBody = {}): Pick<SnapshotRequest, 'body' | 'bodyEncoding'> {
  const { mimeType = '', text, encoding, params = [] } = data
  // Browsers list the fields of a form instead of its text.
  if (text === undefined && mimeType.startsWith('application/x-www-form-urlencoded')) {
    const pairs = params.map(({ name = '', value = '' }): [string, string] => [name, value])
    return { body: String(new URLSearchParams(pairs)) }
  }
  return encodedBody(encoding === 'base64' ? textOrBytes(Buffer.from(text ?? '', 'base64')) : (text ?? ''))
}

function readResponse({ status, headers = [], content }: HarEntry['response'], time = 0): SnapshotResponse {
  const isKept = (name: string): boolean =>
    !OF_TRANSFER.has(name) || (name === 'content-encoding' && content?._isCoded === true)
  const fields = [...valuesByName(headers)].filter(([name]) => isKept(name))
  const text = content?.text ?? ''
  const body = content?.encoding === 'base64' ? text : Buffer.from(text).toString('base64')
  return {
    statusCode: status,
    headers: Object.fromEntries(
      fields.map(([name, values]) => [name, values.length > 1 ? values : values[0]!]),
    ),
    body,
    trailers: {},
    ...(time > 0 ? { time } : null),
  }
}

/** Without the pseudo-headers of HTTP/2. Chrome joins repeated fields with a line break. */
function valuesByName(headers: readonly HarField[] = []): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const { name, value } of headers) {
    const lower = name.toLowerCase()
    if (!lower.startsWith(':')) fields.set(lower, [...(fields.get(lower) ?? []), ...value.split('\n')])
  }
  return fields
}

export function toHar(snapshots: readonly Snapshot[]): object {
  const entries = snapshots.flatMap((snapshot) => snapshot.responses.map((one) => toEntry(snapshot, one)))
  return { log: { version: '1.2', creator: { name: 'ventuno', version: '1' }, entries } }
}

/** Members that are undefined are left out by `JSON.stringify`. */
function toEntry({ request, timestamp }: Snapshot, response: SnapshotResponse): object {
  const { method, url, headers, body = '', bodyEncoding } = request
  const time = response.time ?? 0
  const decoded = decodedBody(response)
  const content = decoded ?? Buffer.from(response.body, 'base64')
  const text = textOrBytes(content)
  return {
    startedDateTime: timestamp,
    time,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: toFields(headers),
      queryString: Array.from(new URL(url).searchParams, ([name, value]) => ({ name, value })),
      postData: body === '' ? undefined : { mimeType: typeOf(headers), text: body, encoding: bodyEncoding },
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: response.statusCode,
      statusText: statusText(response.statusCode),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: toFields(response.headers),
      content: {
        size: content.length,
        mimeType: typeOf(response.headers),
        ...(typeof text === 'string' ? { text } : { text: text.toString('base64'), encoding: 'base64' }),
        _isCoded: decoded === null ? true : undefined,
      },
      redirectURL: String(response.headers['location'] ?? ''),
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
  }
}

function typeOf(headers: Record<string, string | string[]>): string {
  return String(headers['content-type'] ?? 'application/octet-stream')
}

function toFields(headers: Record<string, string | string[]>): HarField[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => ({ name, value: one })),
  )
}

/** Null if the coding is unknown or the body is corrupt. */
function decodedBody({ headers, body }: SnapshotResponse): Buffer | null {
  const codings = readCodings(String(headers['content-encoding'] ?? ''))
  if (!Array.isArray(codings) || !codings.every(isDecodable)) return null
  try {
    return codings.reduceRight<Buffer | null>(
      // The response to HEAD names a coding and has no body.
      (bytes, coding) => (bytes?.length ? decodeWhole(coding, 'refused', bytes, kMaxLength) : bytes),
      Buffer.from(body, 'base64'),
    )
  } catch {
    return null
  }
}
