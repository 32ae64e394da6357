/** The body of a reply. */
import { Buffer } from 'node:buffer'
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { isStream } from '../../request/body-source.ts'
import { bytesOf, type Pieces } from '../mock-body.ts'

/** Pieces are read at the speed of the consumer. */
export type ReplyContent = Buffer | Pieces

/** Objects become JSON; `false`, 0 and undefined an empty body. */
export function toContent(data: unknown): ReplyContent {
  if (typeof data === 'string') return data === '' ? NO_BYTES : Buffer.from(data)
  if (data === null) return Buffer.from('null')
  if (typeof data !== 'object') return data ? Buffer.from(String(data)) : NO_BYTES
  const bytes = bytesOf(data)
  if (bytes !== null) return bytes
  // A Blob can be read for each request; a stream of it only once.
  if (data instanceof Blob) return { [Symbol.asyncIterator]: () => data.stream()[Symbol.asyncIterator]() }
  if (data instanceof URLSearchParams) return Buffer.from(String(data))
  if (isStreamed(data)) return data
  return Buffer.from(JSON.stringify(data))
}

/** Arrays are data. An old stream that cannot be iterated is data, too. */
function isStreamed(data: object): data is Pieces {
  if (Array.isArray(data)) return false
  const candidate = data as Record<PropertyKey, unknown>
  if (typeof candidate[Symbol.asyncIterator] === 'function') return true
  return !isStream(data) && typeof candidate[Symbol.iterator] === 'function'
}

/** Throws for a piece that is neither a string nor bytes. */
export async function* contentPieces(content: ReplyContent): AsyncGenerator<Buffer> {
  for await (const piece of Buffer.isBuffer(content) ? [content] : content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : bytesOf(piece)
    if (bytes === null) throw new TypeError('a piece of a mocked body is neither a string nor bytes')
    yield bytes
  }
}
