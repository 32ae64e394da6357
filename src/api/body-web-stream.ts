/**
 * A response body as a web stream of bytes. Pulls only when read, so that asking for it wakes nothing.
 */
import type { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { loadWebStreams } from '../base/lazy-modules.ts'

export function webStreamOf(readable: Readable): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Buffer | string> | null = null
  const { ReadableStream } = loadWebStreams()
  return new ReadableStream(
    {
      type: 'bytes',
      async pull(controller) {
        iterator ??= readable[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>
        const { done, value } = await iterator.next()
        if (done) {
          controller.close()
          // A reader that brought its own buffer waits until that is answered too.
          controller.byobRequest?.respond(0)
          return
        }
        // Copied, because a byte stream takes the memory of what it is given away from everyone else.
        const bytes =
          typeof value === 'string' ? Buffer.from(value, readable.readableEncoding ?? 'utf8') : value
        controller.enqueue(new Uint8Array(bytes))
      },
      cancel(reason) {
        readable.destroy(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
