/** The part of a stored body that a request asks for. */
import type { Buffer } from 'node:buffer'
import { copyBytes } from '../../base/bytes/own-bytes.ts'
import type { ByteRange } from '../rules/preconditions.ts'

export const WHOLE: ByteRange = { start: 0, end: Number.POSITIVE_INFINITY }

/** A copy of what the range has of these bytes, which are at this position; null if it has none. */
export function partOf(bytes: Buffer, position: number, { start, end }: ByteRange): Buffer | null {
  const from = Math.max(0, start - position)
  const to = Math.min(bytes.length, end - position)
  return from < to ? copyBytes(bytes, from, to) : null
}
