/**
 * Validates UTF-8 piece by piece (RFC 6455 §8.1, RFC 3629 §4). A message is refused at its first wrong
 * byte, not at its end. Whole sequences are judged by the runtime; only one that a piece cuts in two is
 * walked through here.
 */
import { isUtf8 } from 'node:buffer'

/** A sequence has at most three bytes after the first. */
const LONGEST_TAIL = 3

export class Utf8Validator {
  /** Continuation bytes that must follow before anything else; -1 after a wrong byte. */
  #missing = 0
  /** Limits of the next continuation byte: the first one rules out overlong forms and surrogates. */
  #low = 0x80
  #high = 0xbf

  /** True between characters. */
  get complete(): boolean {
    return this.#missing === 0
  }

  reset(): void {
    this.#missing = 0
    this.#low = 0x80
    this.#high = 0xbf
  }

  /** False at the first piece with a wrong byte, and from then on. */
  accepts(bytes: Uint8Array, start: number, end: number): boolean {
    let from = start
    while (from < end && this.#missing > 0) this.#walk(bytes[from++]!)
    if (this.#missing < 0) return false
    const whole = wholeUntil(bytes, from, end)
    if (!isUtf8(bytes.subarray(from, whole))) {
      this.#missing = -1
      return false
    }
    for (let i = whole; i < end && this.#missing >= 0; i++) this.#walk(bytes[i]!)
    return this.#missing >= 0
  }

  #walk(byte: number): void {
    if (this.#missing > 0) {
      this.#missing = byte < this.#low || byte > this.#high ? -1 : this.#missing - 1
      this.#low = 0x80
      this.#high = 0xbf
      return
    }
    this.#missing = tailOf(byte)
    if (byte === 0xe0) this.#low = 0xa0
    else if (byte === 0xed) this.#high = 0x9f
    else if (byte === 0xf0) this.#low = 0x90
    else if (byte === 0xf4) this.#high = 0x8f
  }
}

/** Bytes that follow a first byte; -1 when it cannot be one. Only asked for bytes from 0xc0 on. */
function tailOf(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return -1
  if (byte < 0xe0) return 1
  return byte < 0xf0 ? 2 : LONGEST_TAIL
}

/** Where the last sequence begins, if it is not all there; else the end. */
function wholeUntil(bytes: Uint8Array, start: number, end: number): number {
  const first = Math.max(start, end - LONGEST_TAIL)
  for (let i = end - 1; i >= first; i--) {
    const byte = bytes[i]!
    if (byte < 0x80) return end
    if (byte >= 0xc0) return i + tailOf(byte) >= end ? i : end
  }
  return end
}
