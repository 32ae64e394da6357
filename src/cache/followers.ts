/**
 * Requests that wait for the response of another one for the same URL. They get it if it can be stored and
 * answers them as well, and are sent on their own otherwise. None of them ever waits for another caller to
 * read its body.
 */
import type { BodyLog } from '../relay/body-log.ts'
import type { Downstream } from '../relay/downstream.ts'
import type { RequestView } from '../relay/request-view.ts'
import { watcherOf } from '../relay/request-watcher.ts'
import type { ResponseFacts } from '../relay/response-facts.ts'
import type { Head } from '../relay/response-source.ts'
import { type SharedOwner, SharedResponse, type Sharer } from '../relay/shared-response.ts'
import type { CacheHost, Plan } from './cache-host.ts'
import type { Handling } from './rules/cache-status.ts'
import { varyMatches } from './rules/vary.ts'
import type { CacheValue, WholeEntry } from './store/cache-store.ts'

/** The response that all read while it arrives. */
interface Arriving {
  readonly value: CacheValue
  readonly body: BodyLog
  readonly facts: ResponseFacts
}

const RESOLVED = Promise.resolve()
const COLLAPSED: Handling = { kind: 'forwarded', reason: 'miss', collapsed: true }

export class Followers implements SharedOwner {
  readonly #host: CacheHost
  readonly #plan: Plan
  readonly #giveUp: (reason: unknown) => void
  readonly #shared = new SharedResponse<RequestView>(this)
  #state: 'waiting' | Arriving | 'closed' = 'waiting'
  /** The first caller has given up: the request goes on for those who wait. */
  isFirstGone = false
  /** The first caller is one of those who read it. Also after no other can join. */
  #isShared = false

  /** @param giveUp Called if nobody wants the response any more. */
  constructor(host: CacheHost, plan: Plan, giveUp: (reason: unknown) => void) {
    this.#host = host
    this.#plan = plan
    this.#giveUp = giveUp
  }

  /** False if the response is known not to answer this request. */
  join(downstream: Downstream, view: RequestView, id: string): boolean {
    const state = this.#state
    if (state === 'closed' || id !== this.#plan.sharedId) return false
    if (state !== 'waiting' && !varyMatches(state.value.vary, view.headers)) return false
    const caller = this.#shared.add(downstream, view)
    downstream.announce()
    if (state !== 'waiting') this.#read(caller, state)
    return true
  }

  /** The first caller gives up. False if nobody else waits for the response. */
  outlive(): boolean {
    this.isFirstGone = this.#shared.callers.length > 0
    return this.isFirstGone
  }

  /** Those of a request that is sent again. */
  adopt(other: Followers): void {
    this.isFirstGone = other.isFirstGone
    for (const { downstream, request } of other.#shared.takeAllBut(null))
      this.#shared.add(downstream, request)
  }

  /** No other request joins. */
  close(): void {
    this.#state = 'closed'
  }

  /** They are sent on their own. `apart`: later requests for the URL as well, for a while. */
  release(apart: boolean): void {
    this.close()
    if (apart) this.#host.exchanges.keepApart(this.#plan.view)
    for (const caller of this.#shared.takeAllBut(null)) this.#sendAlone(caller)
    if (this.isFirstGone) this.#giveUp(undefined)
  }

  /** The response is complete. */
  serve(entry: WholeEntry, facts: ResponseFacts): void {
    this.close()
    for (const caller of this.#shared.takeAllBut(null)) {
      const { downstream, request } = caller
      if (!varyMatches(entry.vary, request.headers)) this.#sendAlone(caller)
      else if (!downstream.settled) {
        watcherOf(request.opts)?.onCacheResult('collapsed')
        this.#host.presenter.present(request, downstream, entry, { handling: COLLAPSED, facts }).start()
      }
    }
  }

  /** The response arrives, and is short enough to be kept until the slowest has read it. */
  share(first: Downstream, head: Head, arriving: Arriving): void {
    this.#state = arriving
    this.#isShared = true
    const waiting = this.#shared.callers
    if (!this.isFirstGone) this.#read(this.#shared.add(first, this.#plan.view), arriving, head)
    for (const caller of waiting) {
      if (varyMatches(arriving.value.vary, caller.request.headers)) this.#read(caller, arriving)
      else if (this.#shared.drop(caller)) this.#sendAlone(caller)
    }
    if (this.#shared.callers.length === 0) this.onUnwanted(undefined)
  }

  #read(caller: Sharer<RequestView>, { value, body, facts }: Arriving, own?: Head): void {
    const { presenter } = this.#host
    const { downstream, request } = caller
    if (own === undefined) watcherOf(request.opts)?.onCacheResult('collapsed')
    // Not within `dispatch()`: a handler is never called before its caller has the return value.
    void RESOLVED.then(() => {
      const head = own ?? presenter.headOf(value, false, COLLAPSED)
      const received = presenter.receivedWith(head, request)
      downstream.contain(() => {
        if (!downstream.started) downstream.start(null, received)
        downstream.head(head, received, facts)
      })
      caller.read(body, () => {
        this.#shared.drop(caller)
        downstream.end({}, received)
      })
    })
  }

  #sendAlone({ downstream, request }: Sharer<RequestView>): void {
    if (!downstream.settled) this.#host.forwardAlone(request, downstream)
  }

  onFlow(): void {}

  onUnwanted(reason: unknown): void {
    if (!this.isFirstGone && !this.#isShared) return
    this.close()
    this.#giveUp(reason)
  }
}
