/**
 * Whether a body can be sent again: the only answer above `dispatch`. Sending what is left of a spent one
 * would send an empty body, and the server would take that for all there is.
 */
import { Readable } from 'node:stream'
import { isStream } from '../request/body-source.ts'

/**
 * `always`: the same bytes come out every time. `unread`: only if no attempt has begun to read it. `spent`:
 * it has been read, or destroyed with the attempt that it belonged to.
 */
export type Replay = 'always' | 'unread' | 'spent'

export function replayOf(body: unknown): Replay {
  if (typeof body !== 'object' || body === null) return 'always'
  if (isStream(body)) {
    const { destroyed, readableDidRead } = body
    // A pre-streams2 emitter does not say whether it was read.
    return destroyed === true || readableDidRead !== false ? 'spent' : 'unread'
  }
  const { getReader, next, locked } = body as { getReader?: unknown; next?: unknown; locked?: unknown }
  if (typeof getReader === 'function')
    return locked === true || Readable.isDisturbed(body as never) ? 'spent' : 'unread'
  // What is its own iterator, such as a generator, begins only once.
  return typeof next === 'function' ? 'unread' : 'always'
}

/**
 * A body that dispatchers take for spent once it was read, though it is not: a function that makes bodies, or
 * an iterable with a new iterator for each reader.
 */
export function beginsAnew(body: unknown): boolean {
  if (typeof body === 'function') return true
  if (typeof body !== 'object' || body === null || ArrayBuffer.isView(body) || isStream(body)) return false
  const { getReader, next } = body as { getReader?: unknown; next?: unknown }
  return (
    typeof next !== 'function' &&
    typeof getReader !== 'function' &&
    (Symbol.asyncIterator in body || Symbol.iterator in body)
  )
}
