/**
 * The link from an exchange to the body it feeds: strong while the body has a reader, weak while it is
 * unread. If the caller drops an unread body, the exchange is given up when the body is garbage-collected.
 */
import type { BodyFeed, BodySink } from './feed.ts'

const abandoned = new FinalizationRegistry<BodyFeed>((owner) => owner.cancel(undefined))

export class SinkLink {
  #sink: BodySink | WeakRef<BodySink> | null = null

  /** The body; null if there is none, or if it was garbage-collected. */
  get sink(): BodySink | null {
    const sink = this.#sink
    return sink instanceof WeakRef ? (sink.deref() ?? null) : sink
  }

  get isWeak(): boolean {
    return this.#sink instanceof WeakRef
  }

  /** Null if nothing more will be delivered to a body. */
  hold(sink: BodySink | null): void {
    this.tighten()
    this.#sink = sink
  }

  /** Makes the link weak if the body has no reader. */
  loosen(owner: BodyFeed): void {
    const sink = this.#sink
    if (sink === null || sink instanceof WeakRef || sink.awaited) return
    this.#sink = new WeakRef(sink)
    abandoned.register(sink, owner, sink)
  }

  tighten(): void {
    if (!this.isWeak) return
    const { sink } = this
    this.#sink = sink
    if (sink !== null) abandoned.unregister(sink)
  }
}
