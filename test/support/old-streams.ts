/** Old-style streams that behave like npm's `form-data` and similar packages. */
import { EventEmitter } from 'node:events'
import { PassThrough, Stream } from 'node:stream'

/** Collected parts that are emitted at once on demand; emits `close` as soon as it is destroyed. */
export class CollectedParts extends Stream {
  readonly readable = true
  readonly #parts: (string | Uint8Array)[]
  #released = false
  destroys = 0

  constructor(parts: readonly (string | Uint8Array)[]) {
    super()
    this.#parts = [...parts]
  }

  override pipe<T extends NodeJS.WritableStream>(target: T): T {
    super.pipe(target)
    this.resume()
    return target
  }

  /** Only parts that flow by themselves could be paused, and none does. */
  pause(): void {}

  resume(): void {
    if (this.#released) return
    this.#released = true
    for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift()) {
      this.emit('data', part)
    }
    this.emit('end')
  }

  destroy(): void {
    this.destroys++
    this.#parts.length = 0
    this.emit('close')
  }
}

/** Never waits: emits one event per turn of the event loop, to the listeners that are attached by then. */
export class Talker extends EventEmitter {
  destroys = 0

  constructor(...events: readonly (readonly [name: string, value?: unknown])[]) {
    super()
    const next = (at: number): void => {
      const event = events[at]
      if (event === undefined) return
      this.emit(...(event as [string, unknown]))
      setImmediate(next, at + 1)
    }
    setImmediate(next, 0)
  }

  pipe(): void {}

  destroy(): void {
    this.destroys++
  }
}

/** Emits a piece in each turn, unless it is paused. */
export class Dispenser extends Stream {
  readonly #parts: Uint8Array[]
  #paused = false
  #scheduled = false
  pauses = 0
  destroyed = false

  constructor(parts: readonly Uint8Array[]) {
    super()
    this.#parts = [...parts]
    this.resume()
  }

  pause(): void {
    this.pauses++
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#scheduled = false
    if (this.#paused || this.destroyed) return
    const part = this.#parts.shift()
    if (part === undefined) {
      this.emit('end')
    } else {
      this.emit('data', part)
      if (!this.#paused) this.resume()
    }
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** A stream of the second generation: does not destroy itself, and emits `close` within `destroy()`. */
export class SecondGeneration extends PassThrough {
  constructor() {
    super({ autoDestroy: false, emitClose: false })
    // Added in a later generation.
    Object.defineProperty(this, 'readableEnded', { value: undefined })
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this
    super.destroy(error)
    this.emit('close')
    return this
  }
}
