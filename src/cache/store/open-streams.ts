/**
 * The streams that write to a store, by URL, so that removing a URL also ends what is being written to it.
 */
import type { Writable } from 'node:stream'

export class OpenStreams {
  readonly #byUrl = new Map<string, Set<Writable>>()

  /**
   * Keeps a stream until it closes, which every stream does once it has finished, failed or been destroyed.
   */
  add(url: string, stream: Writable): void {
    const streams = this.#byUrl.get(url) ?? new Set()
    this.#byUrl.set(url, streams.add(stream))
    stream.on('close', () => {
      streams.delete(stream)
      if (streams.size === 0 && this.#byUrl.get(url) === streams) this.#byUrl.delete(url)
    })
  }

  destroy(url: string): void {
    const streams = this.#byUrl.get(url)
    if (streams === undefined) return
    this.#byUrl.delete(url)
    for (const stream of streams) stream.destroy()
  }
}
