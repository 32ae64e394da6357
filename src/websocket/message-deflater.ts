/**
 * Compresses the messages we send (RFC 7692 §7.2.1). Compression is optional, so messages that are small or
 * do not shrink are sent uncompressed.
 */
import type { DeflateRaw } from 'node:zlib'
import { loadZlib } from '../base/node/lazy-modules.ts'
import { coverPollution } from '../base/object/own-options.ts'
import type { DeflateParameters } from '../protocol/websocket/extension.ts'

/** Ends every flushed message, and is left out on the wire. */
const TAIL_LENGTH = 4

/**
 * Compression runs in another thread. Below this size, the round trip takes longer than sending the bytes.
 */
const WORTH_SIZE = 1024

/** zlib cannot deflate with a window of 256 bytes. It uses 512 instead, which such a peer cannot inflate. */
const SMALLEST_WINDOW = 9

/** After a message that did not get smaller, up to this many are sent without trying. */
const MAX_REST = 64

export class MessageDeflater {
  readonly #windowBits: number
  readonly #keepsContext: boolean
  #stream: DeflateRaw | null = null
  #parts: Buffer[] = []
  /** Messages that are still to be sent without trying. */
  #resting = 0
  #nextRest = 1

  constructor(parameters: DeflateParameters) {
    this.#windowBits = parameters.clientWindowBits
    this.#keepsContext = !parameters.clientNoContextTakeover
  }

  /** Called once for each message. */
  wants(size: number): boolean {
    if (size < WORTH_SIZE || this.#windowBits < SMALLEST_WINDOW) return false
    if (this.#resting === 0) return true
    this.#resting--
    return false
  }

  /** Must not be called again before `done`, which gets null for a message that did not get smaller. */
  deflate(bytes: Uint8Array, done: (error: Error | null, deflated: Buffer | null) => void): void {
    this.#stream ??= this.#open()
    const stream = this.#stream
    this.#parts = []
    const onError = (error: Error): void => {
      this.close()
      done(error, null)
    }
    stream.once('error', onError)
    stream.write(bytes, (error) => {
      if (error || this.#stream !== stream) return
      stream.off('error', onError)
      done(null, this.#result(stream, bytes.length))
    })
  }

  close(): void {
    const stream = this.#stream
    this.#stream = null
    stream?.on('error', () => {}).destroy()
  }

  #result(stream: DeflateRaw, size: number): Buffer | null {
    const deflated = Buffer.concat(this.#parts).subarray(0, -TAIL_LENGTH)
    const smaller = deflated.length < size
    // A message that is sent uncompressed does not enter the peer's window, so it must not stay in ours.
    if (!smaller || !this.#keepsContext) stream.reset()
    if (!smaller) {
      this.#resting = this.#nextRest
      this.#nextRest = Math.min(this.#nextRest * 2, MAX_REST)
      return null
    }
    this.#nextRest = 1
    return deflated
  }

  #open(): DeflateRaw {
    const { constants, createDeflateRaw } = loadZlib()
    const stream = createDeflateRaw(
      coverPollution({ windowBits: this.#windowBits, flush: constants.Z_SYNC_FLUSH }),
    )
    stream.on('data', (chunk: Buffer) => void this.#parts.push(chunk))
    return stream
  }
}
