// Frames into output memory.
import { REQUEST } from './fields.mjs'

const MAX_FRAME = 16384
const FRAMES = 100

export async function benchmarks(load) {
  const { FrameWriter } = await load('protocol/http2/frame-writer.js')
  const { HpackEncoder } = await load('protocol/hpack/encoder.js')
  /** As on a busy connection: the frames of many streams, then one write. */
  const benchmark = (write) => {
    const writer = new FrameWriter()
    const encoder = new HpackEncoder()
    const run = () => {
      for (let i = 0; i < FRAMES; i++) write(writer, encoder, 2 * i + 1)
      if (writer.take() === null) throw new Error('nothing was written')
    }
    return { run, operations: FRAMES }
  }
  const kilobyte = Buffer.alloc(1024, 'x')
  const large = Buffer.alloc(MAX_FRAME, 'x')
  return {
    'HEADERS of a request': benchmark((writer, encoder, id) => {
      writer.headers(id, true, encoder, REQUEST, null, MAX_FRAME)
    }),
    'DATA of 1 KB': benchmark((writer, _encoder, id) => {
      writer.dataHeader(id, kilobyte.length, true)
      writer.body(kilobyte, 0, kilobyte.length)
    }),
    'DATA of 16 KB': benchmark((writer, _encoder, id) => {
      writer.dataHeader(id, large.length, true)
      writer.body(large, 0, large.length)
    }),
    WINDOW_UPDATE: benchmark((writer, _encoder, id) => {
      writer.windowUpdate(id, 65535)
    }),
  }
}
