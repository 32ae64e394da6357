/**
 * Decodes a body of zstd frames. Each frame gets a separate decoder, because the decoders of Node 22 and 24
 * drop what follows the first frame; skippable and empty frames need none. If the input ends within a frame,
 * what was decoded is delivered before the error.
 */
import type { Transform } from 'node:stream'
import { type Callback, WrappedTransform } from './wrapped-transform.ts'
import { ZstdFrame } from './zstd-frame-end.ts'

/**
 * Creating a decoder takes a tenth of a millisecond, and a frame may have ten bytes. After the first frames,
 * the average length must reach this minimum, as it does in logs and event streams.
 */
const FREE_DECODERS = 4096
const LEAST_FRAME = 64

export class ZstdFrames extends WrappedTransform {
  readonly #open: () => Transform
  readonly #frame = new ZstdFrame()
  #input = 0
  #decoders = 0
  /** The beginning of a frame, until its kind is known. */
  #start: Buffer[] = []

  /**
   * @param open Creates the decoder of one frame, which treats the end of its input as the end of the frame.
   */
  constructor(open: () => Transform) {
    super()
    this.#open = open
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#input += chunk.length
    this.#write(chunk, 0, callback)
  }

  #write(chunk: Buffer, from: number, done: Callback): void {
    const frame = this.#frame
    let at = from
    while (at < chunk.length) {
      const end = at + frame.read(chunk, at)
      const { kind, isComplete } = frame
      if (kind === 'skippable' || kind === 'empty') this.#start = []
      else this.#start.push(chunk.subarray(at, end))
      at = end
      if (kind === 'coded' || kind === 'invalid') {
        if (this.inner === null) this.#decoders++
        if (this.#decoders > FREE_DECODERS + this.#input / LEAST_FRAME) {
          done(Object.assign(new Error('too many zstd frames'), { code: 'ZSTD_TOO_MANY_FRAMES' }))
          return
        }
        this.#decode(isComplete, () => this.#write(chunk, end, done))
        return
      }
      if (isComplete) frame.restart()
    }
    done()
  }

  #decode(isComplete: boolean, goOn: () => void): void {
    this.inner ??= this.connect(this.#open())
    const inner = this.inner
    let isFull = false
    for (const part of this.#start) if (!inner.write(part)) isFull = true
    this.#start = []
    if (isComplete) {
      this.waiting = () => {
        this.inner = null
        this.#frame.restart()
        goOn()
      }
      inner.end()
    } else if (isFull) this.waiting = goOn
    else goOn()
  }

  override _flush(callback: Callback): void {
    if (this.#frame.isUntouched) {
      callback()
      return
    }
    const fail = (): void =>
      callback(Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR', errno: -5 }))
    if (this.inner === null) {
      fail()
      return
    }
    // What it has buffered is delivered first.
    this.waiting = fail
    this.inner.end()
  }
}
