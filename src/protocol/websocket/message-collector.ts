/**
 * The payload of one message on its way to a string or a buffer. Pieces are copied into one block of memory:
 * a peer that sends a message in single bytes makes us keep those bytes, not a buffer for each.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { INFLATED_TOO_BIG, INVALID_UTF8, OUT_OF_MEMORY, type WebSocketFailure } from './failures.ts'
import { TRUSTED_LENGTH } from './limits.ts'
import { Utf8Validator } from './utf8.ts'

/** Exactly as large as the message, in memory that holds nothing else. */
export type MessageBytes = Buffer<ArrayBuffer>

/** The first block for a message whose length is not known. */
const FIRST_BLOCK = 4096

export class MessageCollector {
  readonly #maxSize: number
  readonly #utf8 = new Utf8Validator()
  #text = false
  #block: MessageBytes = NO_BYTES
  #length = 0

  /** 0 for any size. Only what inflates can exceed it: the parser looks at announced lengths. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  start(text: boolean): void {
    this.#text = text
    this.#block = NO_BYTES
    this.#length = 0
    this.#utf8.reset()
  }

  /** Copies a piece. `rest`: bytes that are known to follow; `fin`: and none but those. */
  add(bytes: Buffer, start: number, end: number, rest: number, fin: boolean): WebSocketFailure | null {
    const length = this.#length + end - start
    if (this.#maxSize > 0 && length > this.#maxSize) return INFLATED_TOO_BIG
    if (this.#text && !this.#utf8.accepts(bytes, start, end)) return INVALID_UTF8
    if (length > this.#block.length && !this.#grow(length, rest, fin)) return OUT_OF_MEMORY
    bytes.copy(this.#block, this.#length, start, end)
    this.#length = length
    return null
  }

  /** The message, of which these bytes are the end. */
  finish(bytes: Buffer, start: number, end: number): string | MessageBytes | WebSocketFailure {
    // A message in one piece, the usual case, becomes a string without being copied first.
    if (this.#length === 0 && this.#text) {
      if (!this.#utf8.accepts(bytes, start, end) || !this.#utf8.complete) return INVALID_UTF8
      return textOf(bytes, start, end)
    }
    const failure = this.add(bytes, start, end, 0, true)
    if (failure !== null) return failure
    const block = this.#block
    const length = this.#length
    this.#block = NO_BYTES
    this.#length = 0
    if (this.#text) return this.#utf8.complete ? textOf(block, 0, length) : INVALID_UTF8
    if (length > 0 && length === block.length) return block
    const exact = allocate(length)
    if (exact === null) return OUT_OF_MEMORY
    block.copy(exact, 0, 0, length)
    return exact
  }

  /** Doubling keeps the copying of a message in many small pieces linear. */
  #grow(needed: number, rest: number, fin: boolean): boolean {
    const doubled = Math.max(this.#block.length * 2, FIRST_BLOCK)
    const announced = needed + rest
    const trusted = needed + TRUSTED_LENGTH
    const size = fin
      ? Math.min(announced, Math.max(trusted, doubled))
      : Math.max(doubled, Math.min(announced, trusted))
    const block = allocate(this.#maxSize > 0 ? Math.min(size, this.#maxSize) : size)
    if (block === null) return false
    this.#block.copy(block, 0, 0, this.#length)
    this.#block = block
    return true
  }
}

/** With no limit set, a message may be longer than a string can be. */
function textOf(bytes: Buffer, start: number, end: number): string | WebSocketFailure {
  try {
    return bytes.toString('utf8', start, end)
  } catch {
    return OUT_OF_MEMORY
  }
}

/** Not from the shared pool: the memory is handed to the application. */
function allocate(length: number): MessageBytes | null {
  try {
    return Buffer.allocUnsafeSlow(length)
  } catch {
    return null
  }
}
