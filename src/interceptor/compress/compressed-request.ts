/** One request whose body is compressed: coded, and once more as it was given if the server answers 415. */

import type { RecentKeys } from '../../base/collection/recent-keys.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { fieldText } from '../../relay/fields.ts'
import { type Call, RelayedRequest } from '../../relay/relayed-request.ts'
import { replayOf } from '../../relay/replay.ts'
import type { Head } from '../../relay/response-source.ts'

export interface Compression {
  readonly coding: string
  readonly origin: string
  /** The origins that have refused the coding. */
  readonly refusing: RecentKeys
  /** The request as it was given. */
  readonly plain: Call['opts']
}

type State = { readonly at: 'coded' | 'plain' } | { readonly at: 'refused'; readonly body: DiscardedBody }

export class CompressedRequest extends RelayedRequest<Compression> {
  #state: State = { at: 'coded' }

  override onHead(attempt: Attempt, head: Head): void {
    const { refusing, origin, plain } = this.settings
    if (this.#state.at === 'coded' && this.#isRefusal(head)) {
      refusing.add(origin)
      if (replayOf(plain.body) === 'always') {
        this.#discard(attempt, head)
        return
      }
    } else if (this.#state.at === 'plain' && head.statusCode === 415) {
      // The coding was not the reason.
      refusing.delete(origin)
    }
    super.onHead(attempt, head)
  }

  /** RFC 9110 §12.5.3: a 415 that accepts the coding is about the type of the body. */
  #isRefusal({ statusCode, headers }: Head): boolean {
    if (statusCode !== 415) return false
    const accepted = (fieldText(headers, 'accept-encoding') ?? '').toLowerCase().split(',')
    return !accepted.some((item) => {
      const [coding, weight] = item.split(';', 2)
      return coding!.trim() === this.settings.coding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight ?? '')
    })
  }

  #discard(attempt: Attempt, head: Head): void {
    const body = new DiscardedBody(() => attempt.abort())
    this.#state = { at: 'refused', body }
    attempt.resume()
    body.begin(head.headers, true)
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (this.#state.at === 'refused') this.#state.body.take(chunk.length)
    else super.onData(attempt, chunk)
  }

  protected override passesBytes(): boolean {
    return this.#state.at !== 'refused'
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    // The connection is free when this call has returned.
    if (this.#state.at === 'refused') queueMicrotask(() => this.#fallBack())
    else super.onEnd(attempt, trailers)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    if (this.#state.at === 'refused') this.#state.body.stop()
    if (this.#state.at === 'refused' && !this.downstream.aborted) this.#fallBack()
    else super.onFailed(attempt, error)
  }

  #fallBack(): void {
    if (this.#state.at !== 'refused') return
    this.#state.body.stop()
    this.#state = { at: 'plain' }
    if (this.downstream.settled) return
    this.opts = this.settings.plain
    try {
      this.begin(this.downstream, true).send(this.call.dispatch!, this.opts)
    } catch (error) {
      this.downstream.contain(() => this.downstream.fail(error as Error))
    }
  }
}
