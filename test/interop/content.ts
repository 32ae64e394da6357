/** Bodies to send and to serve. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'

/** Several times the size of every window and buffer on the way. */
export const LARGE_SIZE = 5 * 1024 * 1024
export const SMALL_SIZE = 1_000

/** Varying bytes. */
export function pattern(size: number): Buffer {
  const content = Buffer.alloc(size)
  for (let at = 0; at < size; at += 4) {
    content.writeUInt32LE((at * 2_654_435_761) >>> 0, Math.min(at, size - 4))
  }
  return content
}

export const SMALL: Buffer = pattern(SMALL_SIZE)
export const LARGE: Buffer = pattern(LARGE_SIZE)

/** Compresses well, but not into one block. */
export const TEXT: string = Array.from(
  { length: 12_000 },
  (_, i) => `line ${i} of the text: ${(i * i) % 9_973}\n`,
).join('')

export const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The files that every site here offers. */
export function writeSite(folder: string): void {
  writeFileSync(`${folder}/small.txt`, SMALL)
  writeFileSync(`${folder}/large.bin`, LARGE)
  writeFileSync(`${folder}/text.txt`, TEXT)
}

/** In pieces of odd sizes, so that frames and pieces never coincide. */
export function streamOf(content: Buffer): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0, size = 1; at < content.length; at += size, size = (size * 7 + 13) % 70_001) {
        yield content.subarray(at, at + size)
      }
    })(),
    { objectMode: false, highWaterMark: 65_536 },
  )
}
