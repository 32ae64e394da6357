/**
 * The callers of one response. Each reads the body from memory at its own pace, and fails alone: what its
 * handler throws, its abort and its slowness do not reach the others.
 */

import type { HeaderObject } from '../protocol/header-block.ts'
import type { Attempt } from './attempt.ts'
import { BodyDelivery } from './body-delivery.ts'
import { type BodyLog, LogReader } from './body-log.ts'
import type { Downstream } from './downstream.ts'
import { copyHeaders } from './fields.ts'
import { OwnReceived } from './own-received.ts'
import type { Head } from './response-source.ts'

export interface SharedOwner {
  /** A caller has paused or goes on, or one that did not read has gone. */
  onFlow(): void
  /** The last caller has gone before it had the whole response. */
  onUnwanted(reason: unknown): void
}

/** One caller, with what it has asked for. */
export class Sharer<T> extends BodyDelivery {
  readonly request: T
  readonly #shared: SharedResponse<T>
  #reader: LogReader | null = null
  /** It has got the final head. */
  #hasHead = false

  constructor(downstream: Downstream, request: T, shared: SharedResponse<T>) {
    super(downstream)
    this.request = request
    this.#shared = shared
  }

  /** Bytes that are kept for it. */
  get unread(): number {
    return this.#reader?.unread ?? 0
  }

  /** The byte of the body that it needs next. */
  get position(): number {
    return this.#reader?.position ?? 0
  }

  start(attempt: Attempt, context: unknown): void {
    const { downstream } = this
    if (!downstream.started) downstream.contain(() => downstream.start(context, attempt.controller))
  }

  /** Handlers may change what they get, so each has its copy. */
  show({ statusCode, headers, statusText }: Head, { controller, facts }: Attempt): void {
    if (this.#hasHead) return
    this.#hasHead = statusCode >= 200
    const { downstream } = this
    const copy = copyHeaders(headers)
    const received = new OwnReceived(copy, controller!, controller)
    downstream.contain(() => downstream.head({ statusCode, headers: copy, statusText }, received, facts))
  }

  read(log: BodyLog, end: () => void): void {
    this.#reader = new LogReader(log)
    this.begin(end, this.#reader)
  }

  end(trailers: HeaderObject, { controller }: Attempt): void {
    this.#shared.drop(this)
    this.downstream.end(copyHeaders(trailers), new OwnReceived({}, controller!, controller))
  }

  override abort(reason: unknown): void {
    this.close()
    this.#shared.leave(this, reason)
  }

  override pause(): void {
    this.#shared.owner.onFlow()
  }

  override resume(): void {
    super.resume()
    this.#shared.owner.onFlow()
  }
}

export class SharedResponse<T> {
  readonly owner: SharedOwner
  #callers: Sharer<T>[] = []

  constructor(owner: SharedOwner) {
    this.owner = owner
  }

  /** Those that do not have the whole response yet. A copy: calls of handlers change the list. */
  get callers(): Sharer<T>[] {
    return [...this.#callers]
  }

  get isPaused(): boolean {
    return this.#callers.every(({ downstream }) => downstream.paused)
  }

  add(downstream: Downstream, request: T): Sharer<T> {
    const caller = new Sharer(downstream, request, this)
    this.#callers.push(caller)
    downstream.source = caller
    return caller
  }

  /** The callers that do not share it any more. */
  takeAllBut(kept: Sharer<T> | null): Sharer<T>[] {
    const taken = this.#callers.filter((caller) => caller !== kept)
    this.#callers = this.#callers.filter((caller) => caller === kept)
    return taken
  }

  /** The caller has the whole response. Returns whether it was there. */
  drop(caller: Sharer<T>): boolean {
    const index = this.#callers.indexOf(caller)
    if (index !== -1) this.#callers.splice(index, 1)
    return index !== -1
  }

  leave(caller: Sharer<T>, reason: unknown): void {
    if (!this.drop(caller)) return
    if (this.#callers.length === 0) this.owner.onUnwanted(reason)
    else this.owner.onFlow()
  }
}
