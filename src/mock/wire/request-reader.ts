/**
 * Where requests end in the bytes of an HTTP/1.1 client. The client is ours, so its bytes are well-formed; only the framing
 * is read (RFC 9112 §6).
 */
import { NO_BYTES } from '../../base/empty.ts'

const HEAD_END = Buffer.from('\r\n\r\n')

type Phase = { readonly at: 'head' } | { readonly at: 'length'; left: number } | { readonly at: 'chunks' }

const HEAD: Phase = { at: 'head' }

export class RequestReader {
  readonly #onRequest: () => void
  #rest: Buffer = NO_BYTES
  #phase: Phase = HEAD
  head = ''

  /** `onRequest` is called at the end of each request. */
  constructor(onRequest: () => void) {
    this.#onRequest = onRequest
  }

  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (this.#step());
  }

  #step(): boolean {
    switch (this.#phase.at) {
      case 'head':
        return this.#readHead()
      case 'length':
        return this.#readLength(this.#phase)
      case 'chunks':
        return this.#readChunk()
    }
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END)
    if (end === -1) return false
    this.head = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + HEAD_END.length)
    const length = /^content-length: *(\d+)/im.exec(this.head)?.[1]
    if (/^transfer-encoding: *chunked/im.test(this.head)) this.#phase = { at: 'chunks' }
    else if (length !== undefined && Number(length) > 0) this.#phase = { at: 'length', left: Number(length) }
    else this.#finish()
    return this.#rest.length > 0 || this.#phase.at !== 'head'
  }

  #readLength(phase: { left: number }): boolean {
    const taken = Math.min(phase.left, this.#rest.length)
    phase.left -= taken
    this.#rest = this.#rest.subarray(taken)
    if (phase.left > 0) return false
    this.#finish()
    return this.#rest.length > 0
  }

  #readChunk(): boolean {
    const line = this.#rest.indexOf('\r\n')
    if (line === -1) return false
    const size = Number.parseInt(this.#rest.toString('latin1', 0, line), 16)
    if (size > 0) {
      const end = line + 2 + size + 2
      if (this.#rest.length < end) return false
      this.#rest = this.#rest.subarray(end)
      return true
    }
    // Trailers, if any, end with an empty line.
    const end = this.#rest.indexOf(HEAD_END, line)
    if (end === -1) return false
    this.#rest = this.#rest.subarray(end + HEAD_END.length)
    this.#finish()
    return this.#rest.length > 0
  }

  #finish(): void {
    this.#phase = HEAD
    this.#onRequest()
  }
}
