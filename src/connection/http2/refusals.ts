/**
 * Requests that an HTTP/2 peer has not processed (RFC 9113 §8.7): they are sent again as long as the peer
 * makes progress with others, and a peer that refuses streams gets no more of them than it takes.
 */
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import type { ProtocolFailure } from '../../protocol/failure.ts'
import type { Request } from '../../request/request.ts'
import { ConnectionPart } from '../connection-part.ts'
import type { Http2Host } from './host.ts'
import type { OriginStreams } from './origin-streams.ts'

/**
 * How often in a row a request is taken back from a peer that answers nothing else meanwhile. Several
 * connections may be turned away while servers are being replaced; a stream that is refused while its
 * connection goes on was refused on purpose.
 */
const MAX_FRUITLESS_CONNECTIONS = 3
const MAX_FRUITLESS_STREAMS = 1

/**
 * How often the same request may be refused while others are answered: the server may not want that one at
 * all.
 */
const MAX_REFUSALS = 16

/**
 * How often a request is sent again that a GOAWAY with an error may have been about. One that breaks the
 * server must not go on to break it (RFC 9110 §9.2.2: a failed automatic retry is not repeated).
 */
const MAX_SUSPICIONS = 1

/**
 * Milliseconds after which one more stream is tried although the peer has refused that many, and the longest
 * time that follows after more refusals. Streams that last may never make room, and the peer may have been
 * short of it only then.
 */
const FIRST_PATIENCE = 1000
const LONGEST_PATIENCE = 16_000

const NONE: readonly Request[] = []

export class Http2Refusals extends ConnectionPart<Http2Host> implements DeadlineOwner {
  readonly #origin: OriginStreams
  /** The last stream that the peer may process, as its GOAWAY said. */
  #lastStreamId = Number.POSITIVE_INFINITY
  /**
   * The peer has refused more streams than this, whatever it says. Rises by one with each round that is
   * answered.
   */
  #ceiling: number
  /** Streams below this id were opened before the peer announced a limit that not all of them keep to. */
  #excessBelow = 0
  /** To be sent again: those that the peer had begun with, and those that came after. */
  #suspected: Request[] = []
  #returned: Request[] = []
  /** Until the next trial; null as long as the ceiling was not reached. */
  #trial: Deadline | null = null
  #patience = FIRST_PATIENCE
  /** A trial was allowed, and nothing was refused since. */
  #isTrying = false

  constructor(host: Http2Host, origin: OriginStreams) {
    super(host)
    this.#origin = origin
    this.#ceiling = origin.ceiling
  }

  /** As many run as the peer takes, by what it has refused. If so, the time until the next trial begins. */
  isFull(running: number): boolean {
    if (running < Math.floor(this.#ceiling)) return false
    this.#trial ??= new Deadline(this)
    if (!this.#trial.armed) this.#trial.arm(this.#patience)
    return true
  }

  onDeadline(): void {
    this.#isTrying = true
    this.#learn(this.#ceiling + 1)
    this.host.onRoom()
  }

  stop(): void {
    this.#trial?.dispose()
  }

  /** Requests to send again, but for those that their callers have given up by now. */
  takeReturned(): readonly Request[] {
    if (this.#returned.length === 0 && this.#suspected.length === 0) return NONE
    const requests = [...this.#suspected, ...this.#returned]
    this.#suspected = []
    this.#returned = []
    return requests.filter((request) => !request.settled)
  }

  onAnswered(): void {
    this.#origin.answered++
  }

  onCompleted(): void {
    if (this.#ceiling !== Number.POSITIVE_INFINITY) this.#learn(this.#ceiling + 1 / this.#ceiling)
  }

  /** The peer says what it takes. `open`: the streams there are; `nextId`: of the next one. */
  onSettings(limit: number | null, open: number, nextId: number): void {
    const origin = this.#origin
    // Another limit than before: what the peer has refused so far no longer counts.
    if (limit !== origin.announced) this.#learn(Number.POSITIVE_INFINITY)
    origin.announced = limit
    if (limit !== null && open > limit) this.#excessBelow = nextId
  }

  onGoaway(lastStreamId: number): void {
    this.#lastStreamId = lastStreamId
  }

  /** The peer may still process this stream. */
  isCovered(streamId: number): boolean {
    return streamId <= this.#lastStreamId
  }

  /**
   * A request was not processed. Returns whether it is sent again. `running`: how many there were with it.
   */
  resends(request: Request, streamId: number, { scope }: ProtocolFailure, running: number): boolean {
    if (!request.resendable) return false
    request.onUnseen()
    const isWanted =
      scope === 'stream' ? this.#mayRepeat(request, streamId, running - 1) : this.#mayFollow(request)
    if (isWanted) this.#returned.push(request)
    return isWanted
  }

  /**
   * The peer ended the connection with an error while it was at work on the request. Returns whether that is
   * sent again: once, as far as that can do no harm.
   */
  resendsSuspected(request: Request): boolean {
    if (!request.idempotent || !request.resendable) return false
    if (++this.#origin.count(request, true).suspected > MAX_SUSPICIONS) return false
    this.#suspected.push(request)
    return true
  }

  /** The connection was given up before the request was processed. Whether it may be sent on another one. */
  #mayFollow(request: Request): boolean {
    // Others were processed, according to the GOAWAY.
    const isUsed = Number.isFinite(this.#lastStreamId) && this.#lastStreamId > 0
    return this.#origin.count(request, isUsed).fruitless <= MAX_FRUITLESS_CONNECTIONS
  }

  /**
   * The request was refused while this many others run. Whether it may be sent on this connection once more.
   */
  #mayRepeat(request: Request, streamId: number, others: number): boolean {
    // The limit could not be known: neither the request nor the peer is to blame, and the limit holds from
    // now on.
    if (streamId < this.#excessBelow) return true
    this.#learn(Math.max(1, others))
    const isTrial = this.#isTrying
    this.#isTrying = false
    this.#trial?.disarm()
    if (isTrial) this.#patience = Math.min(this.#patience * 2, LONGEST_PATIENCE)
    const account = this.#origin.count(request, isTrial)
    return account.fruitless <= MAX_FRUITLESS_STREAMS && ++account.refused <= MAX_REFUSALS
  }

  #learn(ceiling: number): void {
    this.#ceiling = ceiling
    this.#origin.ceiling = ceiling
  }
}
