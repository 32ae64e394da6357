/**
 * XOR with a four-byte key (RFC 6455 §5.3), four bytes at a time where there are enough of them.
 */

/** Below this many bytes, making a view of words costs more than it saves. */
const WORTH_WORDS = 64

/** The key as bytes and, in whatever byte order the machine has, as a word. */
const KEY_BYTES = new Uint8Array(4)
const KEY_WORD = new Uint32Array(KEY_BYTES.buffer)

/** Masks, or unmasks, `bytes[start, end)` in place. The key's first byte is its lowest one. */
export function mask(bytes: Uint8Array, start: number, end: number, key: number): void {
  let at = start
  if (end - start >= WORTH_WORDS) {
    while (((bytes.byteOffset + at) & 3) !== 0) {
      bytes[at]! ^= keyByte(key, at - start)
      at++
    }
    for (let i = 0; i < 4; i++) KEY_BYTES[i] = keyByte(key, at - start + i)
    const word = KEY_WORD[0]!
    const count = (end - at) >>> 2
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, count)
    for (let i = 0; i < count; i++) words[i]! ^= word
    at += count * 4
  }
  for (; at < end; at++) bytes[at]! ^= keyByte(key, at - start)
}

function keyByte(key: number, at: number): number {
  return (key >>> ((at & 3) << 3)) & 0xff
}
