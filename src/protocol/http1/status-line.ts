/**
 * Status lines (RFC 9112 §4), byte by byte and strictly: `HTTP/1.1 200 reason` and CRLF, where the reason and
 * the space before it may be missing. Positions count from the first byte of the head.
 */
import { CR, DOT, FIELD_VALUE_BYTE, LF, SP, ZERO } from '../ascii.ts'
import type { ProtocolFailure } from '../failure.ts'
import {
  HPE_CR_EXPECTED,
  HPE_INVALID_CONSTANT,
  HPE_INVALID_STATUS,
  HPE_INVALID_VERSION,
  HPE_STRICT,
  peerFailure,
} from './failures.ts'

/** `HTTP/1.1 200`, of fixed width; the reason follows the next byte. */
const STATUS_CODE_END = 12
export const REASON_START: number = STATUS_CODE_END + 1
const PROTOCOL = [0x48, 0x54, 0x54, 0x50, 0x2f] as const

export class StatusLine {
  /** 10 or 11. */
  version = 0
  status = 0
  /** Where the reason phrase ends; not after REASON_START if there is none. */
  reasonEnd = 0
  /** Where the line ends, with its CRLF. */
  end = 0
  failure: ProtocolFailure | null = null
  #place: 'status-code' | 'reason' | 'line-feed' | 'done' = 'status-code'

  get done(): boolean {
    return this.#place === 'done'
  }

  begin(): void {
    this.#place = 'status-code'
  }

  /**
   * Reads on from bytes[from], in a head that begins at `base`. Returns the first byte that was not consumed.
   */
  consume(bytes: Buffer, base: number, from: number, end: number): number {
    let at = from
    if (this.#place === 'status-code') at = this.#judgeStatusCode(bytes, base, at, end)
    if (this.#place === 'reason') {
      while (at < end && FIELD_VALUE_BYTE[bytes[at]!] === 1) at++
      if (at === end) return at
      this.reasonEnd = at - base
      if (bytes[at] === LF) {
        return this.#refuse(at, HPE_CR_EXPECTED, 'Missing expected CR after response line')
      }
      if (bytes[at] !== CR) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid character in reason phrase')
      this.#place = 'line-feed'
      at++
    }
    if (this.#place === 'line-feed' && at < end) {
      if (bytes[at] !== LF) return this.#refuse(at, HPE_STRICT, 'Expected LF after CR')
      this.#place = 'done'
      at++
      this.end = at - base
    }
    return at
  }

  /** The index of each byte decides what it must be. */
  #judgeStatusCode(bytes: Buffer, base: number, from: number, end: number): number {
    let at = from
    for (; at < end; at++) {
      const byte = bytes[at]!
      const index = at - base
      if (index < PROTOCOL.length) {
        if (byte !== PROTOCOL[index]) {
          // The wording that users know; this parser speaks neither RTSP nor ICE.
          return this.#refuse(at, HPE_INVALID_CONSTANT, 'Expected HTTP/, RTSP/ or ICE/')
        }
        continue
      }
      const digit = byte - ZERO
      const isDigit = digit >= 0 && digit <= 9
      switch (index) {
        case 5:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid major version')
          this.version = digit * 10
          break
        case 6:
          if (byte !== DOT) return this.#refuse(at, HPE_INVALID_VERSION, 'Expected dot')
          break
        case 7:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid minor version')
          this.version += digit
          break
        case 8:
          // What calls itself another version frames its messages otherwise, or knows nothing of persistence.
          if (this.version !== 11 && this.version !== 10) {
            return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid HTTP version')
          }
          if (byte !== SP) return this.#refuse(at, HPE_INVALID_VERSION, 'Expected space after version')
          this.status = 0
          break
        case STATUS_CODE_END:
          if (this.status < 100) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid status code')
          if (byte === SP) {
            this.#place = 'reason'
            return at + 1
          }
          if (byte !== CR && byte !== LF) {
            return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid response status')
          }
          // Neither a reason phrase nor the space before it: what reads the reason finds the line end.
          this.#place = 'reason'
          return at
        default:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid status code')
          this.status = this.status * 10 + digit
      }
    }
    return at
  }

  #refuse(at: number, code: string, message: string): number {
    this.failure = peerFailure(code, message)
    return at
  }
}
