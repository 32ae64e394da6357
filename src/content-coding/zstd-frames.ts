/**
 * Decodes a body of zstd frames: each by a decoder of its own, because those of Node 22 and 24 drop what follows the first.
 * Skippable frames are left out. The end of the input within a frame is an error; what was decoded comes before it.
 */
import { Transform } from 'node:stream'
import { ZstdFrame } from './zstd-frame-end.ts'

type Callback = (error?: Error | null) => void

export class ZstdFrames extends Transform {
  readonly #open: () => Transform
  #frame = new ZstdFrame()
  /** The beginning of a frame, until its kind is known. */
  #start: Buffer[] = []
  #inner: Transform | null = null
  /** Waits until the inner stream takes more, or has ended. */
  #waiting: (() => void) | null = null

  /** @param open Makes the decoder of one frame, which takes the end of its input for the end of the frame. */
  constructor(open: () => Transform) {
    super()
    this.#open = open
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#write(chunk, callback)
  }

  #write(chunk: Buffer, done: Callback): void {
    let rest = chunk
    while (rest.length > 0) {
      const used = this.#frame.read(rest)
      this.#start.push(rest.subarray(0, used))
      rest = rest.subarray(used)
      const { kind, isComplete } = this.#frame
      if (kind === 'coded' || kind === 'invalid') {
        const following = rest
        this.#decode(isComplete, () => this.#write(following, done))
        return
      }
      if (kind === 'skippable') this.#start = []
      if (isComplete) this.#frame = new ZstdFrame()
    }
    done()
  }

  #decode(isComplete: boolean, goOn: () => void): void {
    this.#inner ??= this.#begin()
    const inner = this.#inner
    let isFull = false
    for (const part of this.#start) if (!inner.write(part)) isFull = true
    this.#start = []
    if (isComplete) {
      this.#waiting = () => {
        this.#inner = null
        this.#frame = new ZstdFrame()
        goOn()
      }
      inner.end()
    } else if (isFull) this.#waiting = goOn
    else goOn()
  }

  #begin(): Transform {
    const inner = this.#open()
    inner.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) inner.pause()
    })
    inner.on('drain', () => {
      if (!inner.writableEnded) this.#goOn()
    })
    inner.on('end', () => this.#goOn())
    inner.on('error', (error) => this.destroy(error))
    return inner
  }

  #goOn(): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.()
  }

  override _flush(callback: Callback): void {
    if (this.#frame.isUntouched) {
      callback()
      return
    }
    const fail = (): void =>
      callback(Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR', errno: -5 }))
    if (this.#inner === null) {
      fail()
      return
    }
    // What it holds is delivered first.
    this.#waiting = fail
    this.#inner.end()
  }

  override _read(size: number): void {
    this.#inner?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy()
    callback(error)
  }
}
