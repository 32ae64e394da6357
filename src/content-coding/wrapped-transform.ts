/** A Transform on top of another one, which is opened when the kind of input is known. */
import { Transform } from 'node:stream'

export type Callback = (error?: Error | null) => void

export abstract class WrappedTransform extends Transform {
  protected inner: Transform | null = null
  /** Called when the inner stream takes more, or has ended. */
  protected waiting: (() => void) | null = null

  protected connect(inner: Transform): Transform {
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
    const { waiting } = this
    this.waiting = null
    waiting?.()
  }

  override _read(size: number): void {
    this.inner?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.inner?.destroy()
    callback(error)
  }
}
