/** A response that is not an event stream, as an error that explains it. */
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import { asBuffer } from '../base/bytes/source-bytes.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { ResponseError } from '../errors.ts'
import { parseMimeType } from '../fetch/mime/mime-type.ts'
import type { Response } from '../fetch/response.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { DiscardedBody, MAX_DISCARDED_BYTES } from '../relay/discarded-body.ts'

const EVENT_STREAM = 'text/event-stream'

/** Null if it is an event stream. */
export function objectionTo(response: Response): string | null {
  const { status } = response
  if (status !== 200) return `Expected status 200, received ${status}`
  const type = response.headers.get('content-type')
  if (type !== null && parseMimeType(type)?.essence === EVENT_STREAM) return null
  return `Expected content-type ${EVENT_STREAM}, received ${type === null ? 'none' : 'another'}`
}

/**
 * The error with the beginning of the body, up to the limit for discarded bodies: enough for the error
 * message of any API. Never rejects.
 */
export async function explain(response: Response, objection: string): Promise<ResponseError> {
  const kept = BodyBytes.none()
  const reader = response.body?.getReader()
  let bodyTruncated = false
  // A server may send it slowly, and the failure must not wait for it.
  const limits = new DiscardedBody(() => {
    bodyTruncated = true
    reader?.cancel().catch(ignoreError)
  })
  limits.begin(null, true)
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      kept.add(asBuffer(read.value))
      limits.take(read.value.length)
    }
  } catch {
    // The status is known, which matters more than the rest of the body.
    bodyTruncated = true
  }
  limits.stop()
  const body = kept.view().toString('utf8', 0, MAX_DISCARDED_BYTES)
  return new ResponseError(objection, response.status, { headers: toObject(response), body, bodyTruncated })
}

function toObject({ headers }: Response): HeaderObject {
  const object: HeaderObject = Object.fromEntries(headers)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) object['set-cookie'] = cookies
  return object
}

/** Milliseconds to wait before the next attempt (RFC 9110 §10.2.3); 0 without a valid field. */
export function retryAfterOf(response: Response): number {
  const value = response.headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = value === '' ? Number.NaN : Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now())
}
