/**
 * A body that is a pre-streams2 emitter: it emits `data` and `end`, and perhaps has `pause` and `resume`, as
 * npm's `form-data` does. It exposes no state, so this listens from the moment it is given, keeps what comes
 * before the request is sent, and is used like any other stream.
 */
import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { ignoreError } from '../base/error/ignore-error.ts'
import { coverPollution } from '../base/object/own-options.ts'

/** All have `on`; the other methods may be missing. */
export interface OldEmitter {
  on(event: string, listener: (value: unknown) => void): unknown
  pause?(): unknown
  resume?(): unknown
  destroy?(error?: Error): unknown
}

/** Emitters that have ended: they expose no state that says so. */
const ended = new WeakSet<object>()

/** These have emitted an error, or are about to. */
const failed = new WeakSet<object>()

/**
 * Tells a stream that cannot be destroyed that it is given up. Its listeners may be added later in the same
 * turn; without one the event would end the process.
 */
export function emitFailure(stream: object, error: unknown): void {
  const emitter = stream as Partial<EventEmitter>
  if (typeof emitter.emit !== 'function' || typeof emitter.listenerCount !== 'function') return
  if (ended.has(stream) || failed.has(stream)) return
  failed.add(stream)
  void Promise.resolve().then(() => {
    try {
      if (emitter.listenerCount!('error') > 0) emitter.emit!('error', error)
    } catch {
      // The request ends for another reason, which its caller gets.
    }
  })
}

export class OldStream extends Readable {
  readonly #given: OldEmitter
  #ended = false

  constructor(given: OldEmitter) {
    super(coverPollution({ highWaterMark: 64 * 1024 }))
    this.#given = given
    // It may fail after its request has ended and the other listeners are gone.
    this.on('error', ignoreError)
    given.on('error', (error) => {
      failed.add(given)
      this.destroy(error as Error)
    })
    if (ended.has(given)) {
      this.#finish()
      return
    }
    given.on('data', (chunk) => {
      // Null would end a Readable; from an old emitter it means nothing.
      if (chunk === null || chunk === undefined || this.#ended || this.destroyed) return
      if (!this.push(chunk)) given.pause?.()
    })
    given.on('end', () => this.#finish())
    given.on('close', () => {
      if (!this.#ended) this.destroy()
    })
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    ended.add(this.#given)
    this.push(null)
  }

  override _read(): void {
    if (!this.#ended) this.#given.resume?.()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    try {
      if (typeof this.#given.destroy === 'function') this.#given.destroy(error ?? undefined)
      else if (error !== null) emitFailure(this.#given, error)
    } catch {
      // What happened before it was given up is what counts.
    }
    done(error)
  }
}
