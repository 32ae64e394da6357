/** A response that is not an event stream, as an error that explains it. */
import { BodyBytes } from '../base/bytes/body-bytes.ts'
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

/** Never rejects. */
export async function explain(response: Response, objection: string): Promise<ResponseError> {
  const { body, isTruncated } = await readBeginning(response)
  return new ResponseError(objection, response.status, {
    headers: toObject(response),
    body,
    bodyTruncated: isTruncated,
  })
}

/** Up to the limit for discarded bodies, which is enough for the error message of any API. */
async function readBeginning(response: Response): Promise<{ body: string; isTruncated: boolean }> {
  const kept = BodyBytes.none()
  const reader = response.body?.getReader()
  if (reader === undefined) return { body: '', isTruncated: false }
  let isTruncated = false
  const giveUp = (): void => {
    isTruncated = true
    reader.cancel().catch(ignoreError)
  }
  // A server may send it slowly, and the failure must not wait for it.
  const limits = new DiscardedBody(giveUp)
  limits.begin(null, true)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      kept.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      limits.take(value.byteLength)
    }
  } catch {
    // The status is known, which matters more than the rest of the body.
    isTruncated = true
  }
  limits.stop()
  return { body: kept.view().toString('utf8', 0, MAX_DISCARDED_BYTES), isTruncated }
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
