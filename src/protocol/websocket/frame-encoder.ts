/**
 * Frames on their way to a server: always whole messages, always masked (RFC 6455 §5.1–§5.3). It knows no
 * randomness: the caller brings each key.
 */
import { invariant } from '../../base/error/invariant.ts'
import { CLOSE, FIN, LENGTH_16, LENGTH_64, MASKED, RSV1 } from './constants.ts'
import { mask } from './masking.ts'

const SHORT_HEAD = 2
const KEY_LENGTH = 4
const UINT16_END = 0x1_0000
const UINT32_END = 0x1_0000_0000

/** A frame with this payload, given in parts of `length` bytes together. The parts stay as they are. */
export function encodeFrame(
  opcode: number,
  compressed: boolean,
  parts: readonly Uint8Array[],
  length: number,
  key: number,
): Buffer {
  const frame = allocate(opcode, compressed, length)
  const start = frame.length - length
  let at = start
  for (const part of parts) {
    frame.set(part, at)
    at += part.length
  }
  return seal(frame, start, at, key)
}

/** A frame with this text, whose UTF-8 form has `length` bytes. Lone surrogates become U+FFFD. */
export function encodeTextFrame(opcode: number, text: string, length: number, key: number): Buffer {
  const frame = allocate(opcode, false, length)
  const start = frame.length - length
  return seal(frame, start, start + frame.write(text, start, 'utf8'), key)
}

/** A close frame; without a code it is empty, and so must be the reason. */
export function encodeCloseFrame(code: number | null, reason: string, key: number): Buffer {
  if (code === null) return encodeFrame(CLOSE, false, [], 0, key)
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code)
  payload.write(reason, 2, 'utf8')
  return encodeFrame(CLOSE, false, [payload], payload.length, key)
}

/**
 * The memory is not cleared, as every byte of it is about to be written; `seal` makes sure of that. Two bytes
 * are left out before heads of 6 and 14 bytes, so that the payload begins at a word.
 */
function allocate(opcode: number, compressed: boolean, length: number): Buffer {
  const extended = length < LENGTH_16 ? 0 : length < UINT16_END ? 2 : 8
  const head = SHORT_HEAD + extended + KEY_LENGTH
  const padding = head & 2
  const frame = Buffer.allocUnsafe(padding + head + length).subarray(padding)
  frame[0] = FIN | (compressed ? RSV1 : 0) | opcode
  if (extended === 0) {
    frame[1] = MASKED | length
  } else if (extended === 2) {
    frame[1] = MASKED | LENGTH_16
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = MASKED | LENGTH_64
    frame.writeUInt32BE(Math.floor(length / UINT32_END), 2)
    frame.writeUInt32BE(length % UINT32_END, 6)
  }
  return frame
}

function seal(frame: Buffer, start: number, end: number, key: number): Buffer {
  invariant(end === frame.length, 'a payload is not as long as was said')
  frame.writeUInt32LE(key, start - KEY_LENGTH)
  mask(frame, start, end, key)
  return frame
}
