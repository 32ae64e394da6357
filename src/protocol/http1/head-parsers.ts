/**
 * The head parsers of all connections to one origin. A connection borrows one while a head arrives, and
 * nearly all heads arrive in one piece: so one parser serves many connections, and recognises the head that
 * any of them received last.
 */
import { HeadParser } from './head-parser.ts'
import type { Http1Limits } from './limits.ts'

export class HeadParsers {
  readonly #limits: Http1Limits
  /** One is kept: more are lent only while heads arrive in pieces. */
  #spare: HeadParser | null = null

  constructor(limits: Http1Limits) {
    this.#limits = limits
  }

  lend(): HeadParser {
    const parser = this.#spare
    if (parser === null) return new HeadParser(this.#limits)
    this.#spare = null
    return parser
  }

  /** Not for one that has failed. */
  takeBack(parser: HeadParser): void {
    this.#spare = parser
  }
}
