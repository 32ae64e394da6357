/**
 * The rate that a server accepts, found by trying: it grows by steps while responses come, and is cut when
 * the server refuses (additive increase, multiplicative decrease). The steps become small near the rate at
 * which the server last refused, so that most of that rate is used and few requests are refused. It has no
 * clock: callers give the time, in milliseconds.
 */

/** Requests per second at the beginning, if there is no upper limit to begin with. */
const START = 10

/** Requests per second that are always tried, to notice when the server accepts requests again. */
const FLOOR = 0.1

/** What remains of the rate at which the server refused. */
const DECREASE = 0.9

/** A single refusal halves the rate at most: it may be due to another client. */
const MOST_DECREASE = 0.5

/**
 * Refusals within so many milliseconds are one: a server that counts by the second refuses until its second
 * is over.
 */
const HOLD = 1000

/**
 * Added by each response while no limit is known, or the known one is exceeded: doubles the rate in a second.
 */
const SEARCH_STEP = 0.7

/** Above this multiple of the last limit, the limit of the server has evidently risen. */
const EXCEEDED = 1.1

/** Up to this share of the limit the rate grows faster. */
const NEAR = 0.95

/** Growth per second, as a share of the limit: below `NEAR`, and from there. */
const FAR_STEP = 0.02
const NEAR_STEP = 0.005

/**
 * Growth per response, as a share of the limit: so that a low limit is not probed with every tenth request.
 */
const MAX_STEP = 0.001

/**
 * The allowed rate grows up to this multiple of the rate that is used: whether the server accepts more is not
 * known.
 */
const MOST_UNUSED = 2

export class AdaptiveRate {
  readonly #most: number
  #rate: number
  /** The rate at which the server last refused; Infinity until it does. */
  #limit = Number.POSITIVE_INFINITY
  #cutAt = Number.NEGATIVE_INFINITY
  readonly #accepted = new RateMeter()

  /** `most` is the upper limit, which may be Infinity. */
  constructor(most: number) {
    this.#most = most
    this.#rate = most === Number.POSITIVE_INFINITY ? START : most
  }

  /** Requests per second. */
  get value(): number {
    return this.#rate
  }

  /** `hasWaited`: the rate held the request up. */
  onAccepted(at: number, hasWaited: boolean): void {
    this.#accepted.count(at)
    if (!hasWaited || this.#rate > MOST_UNUSED * this.#accepted.perSecond(at)) return
    this.#rate = Math.min(this.#most, this.#rate + this.#step())
  }

  #step(): number {
    const limit = this.#limit
    if (limit === Number.POSITIVE_INFINITY || this.#rate > EXCEEDED * limit) return SEARCH_STEP
    const share = this.#rate < NEAR * limit ? FAR_STEP : NEAR_STEP
    return Math.min((share * limit) / this.#rate, MAX_STEP * limit)
  }

  /** The refusal of a request that was sent before the last cut says nothing about the new rate. */
  onRefused(at: number, sentAt: number): void {
    if (sentAt < this.#cutAt || at < this.#cutAt + HOLD) return
    this.#cutAt = at
    const least = (MOST_DECREASE / DECREASE) * this.#rate
    // A count of few says little about the rate.
    const accepted = this.#accepted.perSecond(at)
    this.#limit = Math.min(this.#rate, Math.max(least, accepted + Math.sqrt(accepted)))
    this.#rate = Math.max(Math.min(FLOOR, this.#most), DECREASE * this.#limit)
  }
}

/**
 * Counts events over the last second, roughly: those of the second before count for the part of it that is
 * not over yet.
 */
class RateMeter {
  #second = 0
  #count = 0
  #before = 0

  count(at: number): void {
    this.#advance(at)
    this.#count++
  }

  perSecond(at: number): number {
    this.#advance(at)
    return this.#before * (1 - (at / 1000 - this.#second)) + this.#count
  }

  #advance(at: number): void {
    const second = Math.floor(at / 1000)
    if (second <= this.#second) return
    this.#before = second === this.#second + 1 ? this.#count : 0
    this.#count = 0
    this.#second = second
  }
}
