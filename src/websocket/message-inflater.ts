/**
 * Inflates the server's messages piece by piece (RFC 7692 §7.2.2). The output comes in pieces of at most 32
 * KiB, so that the receiver can stop before a small message has become a large one.
 */
import type { InflateRaw } from 'node:zlib'
import { loadZlib } from '../base/node/lazy-modules.ts'
import { coverPollution } from '../base/object/own-options.ts'
import type { DeflateParameters } from '../protocol/websocket/extension.ts'

/** The sender removes it from each message; it is added again here. */
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff])

/**
 * As large as the largest window. With larger steps, a message that is too large would be noticed later.
 */
const CHUNK_SIZE = 32 * 1024

/**
 * How often a message may end its deflate stream and begin another (RFC 7692 §7.2.3.4 allows it). Each costs
 * us a new inflater, and the peer two bytes.
 */
const MAX_STREAMS = 16

export type InflateOutcome = 'done' | 'stopped' | 'failed'

export class MessageInflater {
  readonly #windowBits: number
  readonly #keepsContext: boolean
  /** Returns false to stop. */
  readonly #onOutput: (chunk: Buffer) => boolean
  #stream: InflateRaw | null = null
  #streams = 0
  #closed = false

  constructor(parameters: DeflateParameters, onOutput: (chunk: Buffer) => boolean) {
    this.#windowBits = parameters.serverWindowBits!
    this.#keepsContext = !parameters.serverNoContextTakeover
    this.#onOutput = onOutput
  }

  /**
   * Must not be called again before `done`, which follows the last output. The bytes are copied.
   */
  write(bytes: Buffer, last: boolean, done: (outcome: InflateOutcome) => void): void {
    const input = Buffer.concat(last ? [bytes, TAIL] : [bytes])
    this.#inflate(input, (outcome) => {
      if (outcome === 'done' && last) {
        this.#streams = 0
        if (!this.#keepsContext) this.#stream?.reset()
      }
      done(outcome)
    })
  }

  close(): void {
    this.#closed = true
    this.#drop()
  }

  #inflate(input: Buffer, done: (outcome: InflateOutcome) => void): void {
    this.#stream ??= this.#open()
    const stream = this.#stream
    const before = stream.bytesWritten
    const end = (outcome: InflateOutcome): void => {
      stream.off('error', onError)
      if (outcome !== 'done') this.close()
      done(outcome)
    }
    const onError = (): void => end('failed')
    stream.on('error', onError)
    stream.write(input, (error) => {
      if (error) return
      const taken = stream.bytesWritten - before
      if (this.#closed || taken === input.length) {
        end(this.#closed ? 'stopped' : 'done')
        return
      }
      // The deflate stream has ended before the input has.
      this.#streams++
      this.#drop()
      if (this.#streams > MAX_STREAMS) done('failed')
      else this.#inflate(input.subarray(taken), done)
    })
  }

  #open(): InflateRaw {
    const { constants, createInflateRaw } = loadZlib()
    const options = { windowBits: this.#windowBits, chunkSize: CHUNK_SIZE, flush: constants.Z_SYNC_FLUSH }
    const stream = createInflateRaw(coverPollution(options))
    stream.on('data', (chunk: Buffer) => {
      if (!this.#closed && !this.#onOutput(chunk)) this.close()
    })
    return stream
  }

  #drop(): void {
    const stream = this.#stream
    this.#stream = null
    // It may still emit its end or an error, neither of which matters any more.
    stream?.on('error', () => {}).destroy()
  }
}
