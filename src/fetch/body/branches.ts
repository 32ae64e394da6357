/**
 * One source of chunks for two bodies, for `clone()`. The source flows when either body wants more:
 * the faster reader sets the pace, and the slower one buffers the chunks it has not read, as in the
 * standard's tee.
 */

import type { ReadableStream } from 'node:stream/web'
import { copyBytes } from '../../base/bytes/own-bytes.ts'
import type { BodyFeed, BodySink } from './feed.ts'
import { proxyOf } from './streams.ts'

/** What a branch wants from the source. */
type Wish = 'more' | 'pause' | 'nothing'

class Branch implements BodyFeed {
  readonly #branches: Branches
  sink: BodySink
  wish: Wish
  reason: unknown
  isSpent = false

  constructor(branches: Branches, sink: BodySink, wish: Wish) {
    this.#branches = branches
    this.sink = sink
    this.wish = wish
  }

  get isAbortable(): boolean {
    return this.#branches.feed.isAbortable
  }

  resume(): void {
    if (this.wish !== 'nothing') this.#want('more')
  }

  pause(): void {
    if (this.wish === 'more') this.#want('pause')
  }

  cancel(reason: unknown): void {
    if (this.wish === 'nothing') return
    this.reason = reason
    this.#want('nothing')
  }

  spent(): void {
    this.isSpent = true
    this.#want('nothing')
  }

  #want(wish: Wish): void {
    this.wish = wish
    this.#branches.update()
  }

  deliverTo(sink: BodySink): void {
    this.sink = sink
  }
}

export class Branches implements BodySink {
  readonly feed: BodyFeed
  readonly first: Branch
  readonly second: Branch

  constructor(feed: BodyFeed, first: BodySink, second: BodySink, paused: boolean) {
    const wish = paused ? 'pause' : 'more'
    this.feed = feed
    this.first = new Branch(this, first, wish)
    this.second = new Branch(this, second, wish)
    feed.deliverTo(this)
  }

  get awaited(): boolean {
    return this.first.sink.awaited || this.second.sink.awaited
  }

  receive(chunk: Buffer): void {
    for (const branch of [this.first, this.second]) {
      if (branch.wish !== 'nothing') branch.sink.receive(chunk)
    }
  }

  receiveLent(memory: Buffer, start: number, end: number): void {
    this.receive(copyBytes(memory, start, end))
  }

  complete(): void {
    for (const branch of [this.first, this.second]) {
      if (branch.wish !== 'nothing') branch.sink.complete()
    }
  }

  fail(error: unknown): void {
    for (const branch of [this.first, this.second]) branch.sink.fail(error)
  }

  /** Called when a branch changes its wish. */
  update(): void {
    const { first, second } = this
    if (first.wish === 'more' || second.wish === 'more') this.feed.resume()
    else if (first.wish === 'pause' || second.wish === 'pause') this.feed.pause()
    else if (first.isSpent || second.isSpent) this.feed.spent()
    else if (first.reason === undefined && second.reason === undefined) this.feed.cancel(undefined)
    else this.feed.cancel([first.reason, second.reason])
  }
}

/**
 * Tees a caller's stream. The second stream gets clones of the chunks, whatever their type, so that neither
 * reader can change or detach the other's chunks.
 */
export function teeStream(stream: ReadableStream): [ReadableStream, ReadableStream] {
  const pairs: ReadableStream<unknown[]> = proxyOf(stream, (chunk) => [chunk, structuredClone(chunk)])
  const [first, second] = pairs.tee()
  // Each takes its own out of the pair, so that the slower reader does not keep both in memory.
  return [proxyOf(first, (pair) => pair.shift()), proxyOf(second, (pair) => pair.pop())]
}
