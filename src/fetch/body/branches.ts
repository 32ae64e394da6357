/**
 * One source of chunks for two bodies, for `clone()`. The source flows when either body wants more:
 * the faster reader sets the pace, and the slower one buffers the chunks it has not read, as in the
 * standard's tee.
 */

import type { ReadableStream, ReadableStreamDefaultController } from 'node:stream/web'
import { copyBytes } from '../../base/bytes/own-bytes.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { Deferred } from '../../base/loop/deferred.ts'
import type { BodyFeed, BodySink } from './feed.ts'
import { makeStream } from './streams.ts'

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
  const reader = stream.getReader()
  const controllers: ReadableStreamDefaultController[] = []
  const reasons: unknown[] = []
  const cancelled = [false, false]
  const bothCancelled = new Deferred()

  const each = (act: (controller: ReadableStreamDefaultController, index: number) => void): void => {
    controllers.forEach((controller, index) => {
      if (!cancelled[index]) act(controller, index)
    })
  }
  const fail = (error: unknown): void => each((controller) => controller.error(error))
  const read = async (): Promise<void> => {
    try {
      const { done, value } = await reader.read()
      if (done) {
        each((controller) => controller.close())
        bothCancelled.resolve()
        return
      }
      const copy = cancelled[1] ? undefined : structuredClone(value)
      each((controller, index) => controller.enqueue(index === 0 ? value : copy))
    } catch (error) {
      fail(error)
      reader.cancel(error).catch(ignoreError)
      bothCancelled.resolve()
    }
  }
  let reading: Promise<void> | null = null
  const pull = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  const branch = (index: number): ReadableStream =>
    makeStream({
      start(controller: ReadableStreamDefaultController) {
        controllers[index] = controller
      },
      pull,
      cancel(reason) {
        cancelled[index] = true
        reasons[index] = reason
        if (cancelled[0] && cancelled[1]) bothCancelled.resolve(reader.cancel(reasons))
        return bothCancelled.promise
      },
    })
  const pair: [ReadableStream, ReadableStream] = [branch(0), branch(1)]
  reader.closed.catch(fail)
  return pair
}
