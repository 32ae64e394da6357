/**
 * Requests that wait for the response of another one for the same URL. They get it if it can be stored and answers them as
 * well, and are sent on their own otherwise. None of them ever waits for another caller to read its body.
 */

import type { BodyLog } from '../relay/body-log.ts'
import { LogReader } from '../relay/body-log.ts'
import type { Caller } from '../relay/caller.ts'
import type { RequestView } from '../relay/request-view.ts'
import { NO_FACTS, type ResponseFacts, responseFacts, stateFacts } from '../relay/response-facts.ts'
import type { CacheHost } from './cache-host.ts'
import type { Flight } from './plan.ts'
import type { Handling } from './rules/cache-status.ts'
import { varyMatches } from './rules/vary.ts'
import { type ServedHead, Serving } from './serving.ts'
import type { WholeEntry } from './store/cache-store.ts'
import type { Storing } from './store/storing.ts'

interface Follower {
  readonly caller: Caller
  readonly view: RequestView
}

export class Followers {
  readonly #host: CacheHost
  readonly #flight: Flight
  #waiting: Follower[] = []
  /** The response that all read while it arrives. */
  #shared: Storing | null = null
  #body: BodyLog | null = null
  #facts: ResponseFacts = NO_FACTS
  #readers = 0
  /** The first caller has given up: the request goes on for those who wait. */
  #isFirstGone = false

  constructor(host: CacheHost, flight: Flight) {
    this.#host = host
    this.#flight = flight
  }

  /** False if the response is known not to answer this request. */
  join(caller: Caller, view: RequestView): boolean {
    if (this.#flight.settled) return false
    if (this.#shared !== null) {
      if (!varyMatches(this.#shared.value.vary, view.headers)) return false
      this.#read(caller)
      return true
    }
    const follower: Follower = { caller, view }
    this.#waiting.push(follower)
    caller.source = {
      upstream: null,
      abort: (reason) => {
        this.#waiting = this.#waiting.filter((other) => other !== follower)
        this.#giveUpIfUnwanted(reason)
      },
      pause() {},
      resume() {},
    }
    caller.announce()
    return true
  }

  /** The first caller gives up. False if nobody else waits for the response. */
  outlive(): boolean {
    this.#isFirstGone = this.#waiting.length > 0
    return this.#isFirstGone
  }

  /** Those of a request that is sent again. */
  adopt(other: Followers): void {
    this.#isFirstGone = other.#isFirstGone
    for (const { caller, view } of other.#take()) if (!caller.settled) this.join(caller, view)
  }

  /** They are sent on their own. `apart`: later requests for the URL as well, for a while. */
  release(apart: boolean): void {
    const waiting = this.#take()
    this.#host.flights.end(this.#flight, apart, Date.now())
    for (const { caller, view } of waiting) this.#host.forwardAlone(view, caller)
    this.#giveUpIfUnwanted(undefined)
  }

  /** The response is complete. */
  serve(entry: WholeEntry, facts: ResponseFacts): void {
    const waiting = this.#take()
    this.#host.flights.end(this.#flight, false, Date.now())
    for (const { caller, view } of waiting) {
      if (caller.settled) continue
      if (!varyMatches(entry.vary, view.headers)) this.#host.forwardAlone(view, caller)
      else {
        stateFacts(caller, facts)
        this.#host.presenter.present(view, caller, entry, false, COLLAPSED).start()
      }
    }
  }

  /** The response arrives, and is short enough to be kept until the slowest has read it. */
  share(first: Caller, storing: Storing, head: ServedHead, handling: Handling): void {
    this.#shared = storing
    this.#body = storing.read()
    this.#facts = responseFacts(first)
    const waiting = this.#take()
    if (!this.#isFirstGone)
      this.#start(first, { ...head, headers: this.#host.presenter.withStatus(head.headers, handling) })
    for (const { caller, view } of waiting) {
      if (caller.settled) continue
      if (varyMatches(storing.value.vary, view.headers)) this.#read(caller)
      else this.#host.forwardAlone(view, caller)
    }
    this.#giveUpIfUnwanted(undefined)
  }

  #read(caller: Caller): void {
    const { presenter } = this.#host
    stateFacts(caller, this.#facts)
    this.#start(caller, presenter.headOf(this.#shared!.value, false, COLLAPSED))
  }

  #start(caller: Caller, head: ServedHead): void {
    this.#readers++
    const reader = new LogReader(this.#body!)
    new Serving(caller, head, reader, () => this.#onReaderDone()).startLater()
  }

  #onReaderDone(): void {
    this.#readers--
    if (this.#readers === 0 && this.#shared!.active) this.#giveUp(undefined)
  }

  #giveUpIfUnwanted(reason: unknown): void {
    if (this.#isFirstGone && this.#waiting.length === 0 && this.#readers === 0) this.#giveUp(reason)
  }

  #giveUp(reason: unknown): void {
    this.#host.flights.end(this.#flight, false, Date.now())
    this.#flight.giveUp(reason)
  }

  #take(): Follower[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }
}

const COLLAPSED: Handling = { kind: 'forwarded', reason: 'miss', collapsed: true }
