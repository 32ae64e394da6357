/**
 * The streams that we opened and reset, as long as the server may still be busy with them. They count as
 * open: a client whose caller gives up thousands of requests must not look like a Rapid Reset attack
 * (CVE-2023-44487), which servers answer with GOAWAY(ENHANCE_YOUR_CALM). Owns the count and the proof that
 * the server has seen the resets: frames are read in order, so an answer to any frame sent after a reset is
 * one.
 */
export class CancelLedger {
  /** Those that the next proof is for. */
  #covered = 0
  /** Those that were reset after it was asked for. */
  #later = 0
  /** A frame on this stream or a later one is proof. */
  #streamId = 0
  /** An answer to a later PING than this one is proof, too. */
  #ping = 0
  #pingsSent = 0
  #pingsAnswered = 0

  /** Streams that still count. */
  get size(): number {
    return this.#covered + this.#later
  }

  /** No PING is under way that could prove anything. */
  get wantsPing(): boolean {
    return this.#covered > 0 && this.#pingsSent === this.#ping
  }

  /** A stream was reset; `nextId` is the id of the next stream. */
  add(nextId: number): void {
    if (this.#covered === 0) this.#cover(1, nextId)
    else if (this.#streamId === nextId && this.#ping === this.#pingsSent) this.#covered++
    else this.#later++
  }

  /** Its answer is proof for all that were reset before. */
  onPingSent(nextId: number): void {
    if (this.wantsPing) {
      this.#cover(this.size, nextId)
      this.#later = 0
    }
    this.#pingsSent++
  }

  onPingAnswered(nextId: number): void {
    if (this.#pingsAnswered < this.#pingsSent) this.#pingsAnswered++
    if (this.#covered > 0 && this.#pingsAnswered > this.#ping) this.#forget(nextId)
  }

  /** The server sent something on this stream, which is open. */
  onFrame(streamId: number, nextId: number): void {
    if (this.#covered > 0 && streamId >= this.#streamId) this.#forget(nextId)
  }

  #forget(nextId: number): void {
    const later = this.#later
    this.#later = 0
    this.#cover(later, nextId)
  }

  #cover(count: number, nextId: number): void {
    this.#covered = count
    this.#streamId = nextId
    this.#ping = this.#pingsSent
  }
}
