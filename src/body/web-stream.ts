/**
 * A response body as a web stream of bytes. It pulls only when it is read, so that creating it does not start
 * the body.
 */
import type { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { destroyQuietly } from '../base/error/ignore-error.ts'
import { loadWebStreams } from '../base/node/lazy-modules.ts'

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
          // A reader that supplied its own buffer waits until it gets the buffer back.
          controller.byobRequest?.respond(0)
          return
        }
        // Copied, because a byte stream detaches the memory of the chunks that it is given.
        const bytes =
          typeof value === 'string' ? Buffer.from(value, readable.readableEncoding ?? 'utf8') : value
        controller.enqueue(new Uint8Array(bytes))
      },
      cancel(reason) {
        destroyQuietly(readable, reason)
      },
    },
    { highWaterMark: 0 },
  )
}
