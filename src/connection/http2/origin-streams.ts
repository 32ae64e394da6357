/**
 * What the connections to one origin have learnt about how many streams it takes at a time, and how often it
 * has sent back each request unprocessed. It outlives the connections: a server that is being replaced ends
 * one after another, and neither a limit nor a count may start anew with each.
 */
import type { Request } from '../../request/request.ts'

/** How often a request has come back. `answered`: responses of the origin that had begun when it last did. */
export interface Unprocessed {
  /** In a row, while the origin answered nothing at all. */
  fruitless: number
  /** Streams that were refused although the origin took others. */
  refused: number
  /** Connections that ended with an error of the peer while it was at work on this request. */
  suspected: number
  answered: number
}

export class OriginStreams {
  /** Responses that have begun, on all connections. */
  answered = 0
  /** SETTINGS_MAX_CONCURRENT_STREAMS of the last SETTINGS; null: they set none. */
  announced: number | null = null
  /** The origin has refused more than this, whatever it has announced. */
  ceiling: number = Number.POSITIVE_INFINITY
  #unprocessed: WeakMap<Request, Unprocessed> | null = null

  /**
   * Streams that a new connection may open before its SETTINGS have come. A server that has announced 0 is
   * asked with one stream, because nothing else would show that it has changed its mind.
   */
  get maxEarlyStreams(): number {
    return Math.max(1, this.announced ?? Number.POSITIVE_INFINITY)
  }

  /**
   * The request has come back. Returns the account of it, in which this time is counted as progress or not.
   */
  count(request: Request, isProgress: boolean): Unprocessed {
    this.#unprocessed ??= new WeakMap()
    const known = this.#unprocessed.get(request) ?? { fruitless: 0, refused: 0, suspected: 0, answered: 0 }
    known.fruitless = isProgress || this.answered > known.answered ? 0 : known.fruitless + 1
    known.answered = this.answered
    this.#unprocessed.set(request, known)
    return known
  }
}
