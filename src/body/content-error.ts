/**
 * What the failure of `json()` or `formData()` tells besides its message: which response had this content.
 * The class, the name and the message stay those of the runtime, which programs compare.
 */
import { shownPath } from '../base/address/shown-path.ts'
import { defineStack, ownStack, withWords } from '../base/error/first-line.ts'

/** The fields that such an error has in addition. */
export interface ContentErrorContext {
  /** Of the request, without user info and query. */
  url: string
  /** Of the response. */
  statusCode: number
  /** The field of the response; empty without one. */
  contentType: string
  /** The first bytes of the body as text, without control characters. */
  excerpt: string
}

/** A byte order mark, markup and the title of an error page are within it. */
const EXCERPT_LENGTH = 120

const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu

/** The error itself, which a conversion has made for this body. One that cannot be written stays as it is. */
export function describeContent(
  error: unknown,
  bytes: Uint8Array,
  response: Omit<ContentErrorContext, 'excerpt'>,
): void {
  if (!(error instanceof Error)) return
  const url = shownPath(response.url)
  const { statusCode, contentType } = response
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, EXCERPT_LENGTH))
  const excerpt = beginning.toString().replace(CONTROLS, ' ')
  try {
    const stack = ownStack(error)
    Object.assign(error, { url, statusCode, contentType, excerpt })
    const head = [url, 'answered', statusCode, contentType].filter((word) => word !== '').join(' ')
    defineStack(error, () => withWords(stack(), error.message, excerpt === '' ? head : `${head}: ${excerpt}`))
  } catch {
    // Its program has frozen the errors of the runtime.
  }
}
