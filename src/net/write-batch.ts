/**
 * Collects the writes of one tick and passes them to the socket together: requests that go out together cost
 * one system call, and a head travels with its body.
 */
// The global of this name is a getter, which is too slow for every write.

import { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import { runtimeNextTick } from '../base/loop/runtime-turns.ts'

/** Past this a batch is flushed at once, so that a large upload is not held twice. */
const FLUSH_AT_BYTES = 64 * 1024

/**
 * Fewer bytes than these are copied when they wait for the end of the tick; more go to the socket at once.
 */
const COPY_BELOW_BYTES = 16 * 1024

/** A body up to this size is copied after its head: one buffer is cheaper to write than a list of them. */
const JOIN_BELOW_BYTES = 4 * 1024

export class WriteBatch {
  readonly #target: Writable
  readonly #onBroken: (error: Error) => void
  readonly #onTickEnd = (): void => {
    this.#scheduled = false
    this.flush()
  }
  #parts: (string | Uint8Array)[] = []
  #text = ''
  /** Bytes that wait for the socket. */
  waiting = 0
  #scheduled = false

  /** `onBroken`: the target threw, or the memory of a piece has changed. Further output would be garbage. */
  constructor(target: Writable, onBroken: (error: Error) => void) {
    this.#target = target
    this.#onBroken = onBroken
  }

  /**
   * Goes to the socket at the end of the tick. Before that the owner of the pieces may refill or transfer
   * their memory, so none of it is kept.
   */
  addAll(pieces: readonly (string | Uint8Array)[]): void {
    // While a write is under way even those would wait, in the socket.
    const copied = this.#target.writableLength > 0 ? Number.POSITIVE_INFINITY : COPY_BELOW_BYTES
    let isLarge = false
    for (const piece of pieces) {
      const stays = typeof piece === 'string' || piece.length >= copied
      if (stays && typeof piece !== 'string') isLarge = true
      this.put(stays ? piece : Buffer.from(piece))
    }
    if (isLarge || this.waiting >= FLUSH_AT_BYTES) {
      this.flush()
    } else if (!this.#scheduled) {
      this.#scheduled = true
      runtimeNextTick(this.#onTickEnd)
    }
  }

  /** Goes to the socket with the next `flush`. */
  put(data: string | Uint8Array): void {
    if (typeof data === 'string') {
      this.#text += data
    } else {
      if (this.#text !== '') this.#parts.push(this.#text)
      this.#text = ''
      this.#parts.push(data)
    }
    this.waiting += data.length
  }

  /** Throws nothing: a failure of the target does not concern the writer. */
  flush(): void {
    if (this.waiting === 0) return
    try {
      this.#give(this.#target)
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }

  #give(target: Writable): void {
    const bytes = this.waiting
    const parts = this.#parts
    const text = this.#text
    this.#text = ''
    this.waiting = 0
    if (parts.length > 0) this.#parts = []
    if (target.destroyed) return
    if (parts.length === 0) {
      target.write(text, 'latin1')
      return
    }
    if (text !== '') parts.push(text)
    if (parts.length === 1) {
      target.write(parts[0])
      return
    }
    if (bytes <= JOIN_BELOW_BYTES) {
      target.write(join(parts, bytes))
      return
    }
    const waits = target.writableLength > 0
    target.cork()
    for (const part of parts) {
      if (typeof part === 'string') target.write(part, 'latin1')
      else target.write(waits ? Buffer.from(part) : part)
    }
    target.uncork()
  }
}

function join(parts: readonly (string | Uint8Array)[], bytes: number): Buffer {
  const joined = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') joined.write(part, at, 'latin1')
    else joined.set(part, at)
    at += part.length
  }
  // Memory that was resized since leaves a gap, which may hold any data of this process.
  if (at !== bytes) throw new TypeError('a body was made shorter before it was written')
  return joined
}
