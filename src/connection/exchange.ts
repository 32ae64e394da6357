/**
 * What a request and its response account for, the same over both protocols: the bytes of the response
 * against `maxResponseSize`, and the time that each part of it may take.
 */
import type { Deadline } from '../base/loop/deadline.ts'
import { ResponseExceededMaxSizeError } from '../errors.ts'
import { type EndReason, endReason } from '../request/end-reason.ts'
import type { Request } from '../request/request.ts'
import type { ConnectionSettings } from './connection.ts'

/** What is late: a part of the response, or nothing that the server could be blamed for. */
export type Lateness = 'head' | 'body' | 'nothing'

/** The exchanges that share a connection, as each of them sees it. */
export interface ExchangeRegister<E> {
  /** Their streams have ended, and their consumers pause before the end of the response. */
  readonly heldBack: Set<E>
  /** Something of their responses came: `rearm` is called when all that came with it has been seen. */
  readonly active: E[]
  /** Whether the exchange keeps the process alive. By default it does. */
  refer(exchange: E, on: boolean): void
}

/** The interim response that restarts the time for the head. No other says that more time is needed. */
export const PROCESSING = 102

export abstract class Exchange {
  protected readonly settings: ConnectionSettings
  protected readonly deadline: Deadline
  /** Bytes of the present response body. */
  #received = 0

  constructor(settings: ConnectionSettings, deadline: Deadline) {
    this.settings = settings
    this.deadline = deadline
  }

  protected headersTimeout(request: Request): number {
    return request.headersTimeout ?? this.settings.headersTimeout
  }

  protected bodyTimeout(request: Request): number {
    return request.bodyTimeout ?? this.settings.bodyTimeout
  }

  protected awaitHead(request: Request, at?: number): void {
    this.deadline.arm(this.headersTimeout(request), at)
  }

  protected awaitBody(request: Request, at?: number): void {
    this.deadline.arm(this.bodyTimeout(request), at)
  }

  /**
   * The time is up. `awaitsSource`: the request body comes from a source that has nothing to send at present,
   * or is held back.
   */
  protected late(request: Request, awaitsSource: boolean): Lateness {
    // A consumer that pauses cannot be kept waiting; `resume` restarts the time.
    if (request.responding) return request.paused ? 'nothing' : 'body'
    if (!awaitsSource) return 'head'
    // The caller's source is slow, not the server.
    this.awaitHead(request)
    return 'nothing'
  }

  protected beginBody(): void {
    this.#received = 0
  }

  /** Counts bytes of the response body. Returns how the request has ended if these were too many. */
  protected countBody(request: Request, bytes: number): EndReason | null {
    const { maxResponseSize } = this.settings
    this.#received += bytes
    if (maxResponseSize < 0 || this.#received <= maxResponseSize) return null
    const reason = endReason('oversized', new ResponseExceededMaxSizeError())
    request.reportLater()
    request.fail(reason)
    return reason
  }
}
