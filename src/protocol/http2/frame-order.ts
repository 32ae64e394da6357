/**
 * Which frame may come next on the connection (RFC 9113 §3.4, §4.3, §6.10): SETTINGS first, and nothing
 * between the frames of one header block. Knows no stream states.
 */
import { CONTINUATION, FLAG_ACK, FLAG_END_HEADERS, HEADERS, SETTINGS } from './constants.ts'

/** 'P' stands where the type would be when a server answers "HTTP/1.1 …" to the preface. */
const TYPE_OF_HTTP1_ANSWER = 0x50

export class FrameOrder {
  #prefaceSeen = false
  /** The stream whose header block is unfinished, else 0. */
  #openBlock = 0

  /** Why this frame may not come now, or null. */
  check(type: number, flags: number, streamId: number): string | null {
    if (!this.#prefaceSeen) {
      if (type !== SETTINGS || (flags & FLAG_ACK) !== 0) {
        return type === TYPE_OF_HTTP1_ANSWER
          ? 'the first frame was not SETTINGS: the server seems to speak HTTP/1.x'
          : 'the first frame was not SETTINGS'
      }
      this.#prefaceSeen = true
      return null
    }
    if (this.#openBlock !== 0) {
      if (type !== CONTINUATION || streamId !== this.#openBlock) {
        return `header block of stream ${this.#openBlock} interrupted by another frame`
      }
      if ((flags & FLAG_END_HEADERS) !== 0) this.#openBlock = 0
      return null
    }
    if (type === CONTINUATION) return 'CONTINUATION without an open header block'
    if (type === HEADERS && (flags & FLAG_END_HEADERS) === 0) this.#openBlock = streamId
    return null
  }
}
