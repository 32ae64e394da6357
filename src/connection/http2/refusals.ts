/**
 * Requests that an HTTP/2 peer has not processed (RFC 9113 §8.7): they are sent again for as long as the peer gets ahead
 * with others, and a peer that refuses streams gets no more of them than it takes.
 */
import type { ProtocolFailure } from '../../protocol/failure.ts'
import type { Request } from '../../request/request.ts'

/**
 * How often in a row a request is taken back from a peer that answers nothing else meanwhile. Several connections may
 * be turned away while servers are being replaced; a stream that is refused on a connection which goes on is meant.
 */
const MAX_FRUITLESS_CONNECTIONS = 3
const MAX_FRUITLESS_STREAMS = 1

/** How often a connection may refuse the same request while it answers others: it may not want that one at all. */
const MAX_REFUSALS = 16

/** How often a connection has refused a request, and how many responses had begun when it last did. */
interface Refusals {
  times: number
  answered: number
}

export class Http2Refusals {
  /** Responses that have begun. */
  #answered = 0
  /** The last stream that the peer looks at, as its GOAWAY said. */
  #lastStreamId = Number.POSITIVE_INFINITY
  /** More streams than this the peer has refused, whatever it says; it rises by one with each round that is answered. */
  #ceiling = Number.POSITIVE_INFINITY
  #refused: WeakMap<Request, Refusals> | null = null
  /** To be sent again. */
  #returned: Request[] = []

  /** As many run as the peer takes, by what it has refused. */
  isFull(running: number): boolean {
    return running >= Math.floor(this.#ceiling)
  }

  giveBack(request: Request): void {
    this.#returned.push(request)
  }

  /** Requests to send again, but for those that their callers have given up by now. */
  takeReturned(): Request[] {
    const requests = this.#returned
    if (requests.length === 0) return requests
    this.#returned = []
    return requests.filter((request) => !request.settled)
  }

  onAnswered(): void {
    this.#answered++
  }

  onCompleted(): void {
    this.#ceiling += 1 / this.#ceiling
  }

  /** The peer says what it takes: what it has refused before that counts no more. */
  onSettings(): void {
    this.#ceiling = Number.POSITIVE_INFINITY
  }

  onGoaway(lastStreamId: number): void {
    this.#lastStreamId = lastStreamId
  }

  /** The peer still looks at this stream. */
  isCovered(streamId: number): boolean {
    return streamId <= this.#lastStreamId
  }

  /** Whether a request that was not looked at may be sent again. `running`: how many there were with it. */
  mayResend(request: Request, { scope }: ProtocolFailure, running: number): boolean {
    return scope === 'stream' ? this.#mayRepeat(request, running - 1) : this.#mayFollow(request)
  }

  /** The connection was given up before the request was looked at. Whether it may be sent on another one. */
  #mayFollow(request: Request): boolean {
    // Others were looked at, according to the GOAWAY.
    const isUsed = Number.isFinite(this.#lastStreamId) && this.#lastStreamId > 0
    return request.onUnseen(isUsed || this.#answered > 0) <= MAX_FRUITLESS_CONNECTIONS
  }

  /** The request was refused while so many others run. Whether it may be sent on this connection once more. */
  #mayRepeat(request: Request, others: number): boolean {
    this.#ceiling = Math.max(1, others)
    this.#refused ??= new WeakMap()
    const refusals = this.#refused.get(request) ?? { times: 0, answered: 0 }
    const isUsed = this.#answered > refusals.answered
    refusals.times++
    refusals.answered = this.#answered
    this.#refused.set(request, refusals)
    return request.onUnseen(isUsed) <= MAX_FRUITLESS_STREAMS && refusals.times <= MAX_REFUSALS
  }
}
