/**
 * One request that passes through: its caller gets what its attempt brings, unless a subclass decides
 * otherwise.
 */
import type { Duplex } from 'node:stream'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { HeldRequests } from '../request/dispatching.ts'
import type { OwnOrigin } from '../request/logical-origin.ts'
import { Attempt, type AttemptOwner, type AttemptProgress, type Send } from './attempt.ts'
import { Downstream } from './downstream.ts'
import type { Head, ResponseSource } from './response-source.ts'

/** What an interceptor was called with. */
export interface Call {
  readonly opts: DispatchOptions
  readonly handler: DispatchHandler
  /** Sends it on; null for an owner that has several dispatchers. */
  readonly dispatch: Send | null
  /** Where requests are listed that wait here, for the end of their dispatcher. */
  readonly held?: HeldRequests | undefined
  /** The only origin that the dispatcher sends to: see `Interceptor`. */
  readonly own?: OwnOrigin
}

export abstract class RelayedRequest<S = undefined> implements AttemptOwner, ResponseSource {
  protected readonly settings: S
  /** Of the call, or what has replaced them. */
  protected opts: DispatchOptions
  protected readonly call: Call
  protected readonly downstream: Downstream
  /** The one that runs, or the last one. */
  attempt!: Attempt

  constructor(call: Call, settings: S, downstream: Downstream = new Downstream(call.handler)) {
    this.call = call
    this.settings = settings
    this.opts = call.opts
    this.downstream = downstream
  }

  /** Another attempt begins. It is aborted or paused if the request is. */
  begin(progress: AttemptProgress | null = this.downstream, isQueueable?: boolean): Attempt {
    this.attempt = new Attempt(this, progress, isQueueable)
    this.downstream.source = this
    return this.attempt
  }

  /** Throws what the dispatcher throws. */
  send(opts: DispatchOptions = this.opts): boolean {
    return this.begin().send(this.call.dispatch!, opts)
  }

  abort(reason: unknown): void {
    this.attempt.abort(reason)
  }

  pause(): void {
    this.attempt.pause()
  }

  resume(): void {
    this.attempt.resume()
  }

  onStarted({ controller }: Attempt, context: unknown): void {
    this.downstream.start(context, controller)
  }

  onHead({ controller }: Attempt, head: Head): void {
    this.downstream.head(head, controller)
  }

  onData(_attempt: Attempt, chunk: Buffer): void {
    this.downstream.data(chunk)
  }

  /** Lent bytes are for `onData` as well, unless they pass. */
  onBytes(attempt: Attempt, memory: Buffer, start: number, end: number): void {
    if (this.passesBytes(end - start)) this.downstream.bytes(memory, start, end)
    else this.onData(attempt, ownBytes(memory, start, end))
  }

  /** Whether the caller gets these bytes of the body as they are, without `onData`. */
  protected passesBytes(_length: number): boolean {
    return false
  }

  /** The attempt is over, and its caller is told next. */
  protected onOver(): void {}

  onEnd({ controller }: Attempt, trailers: HeaderObject): void {
    this.onOver()
    this.downstream.end(trailers, controller)
  }

  onUpgrade({ controller }: Attempt, head: Head, socket: Duplex): void {
    this.onOver()
    this.downstream.upgrade(head, socket, controller)
  }

  onFailed(_attempt: Attempt, error: Error): void {
    this.onOver()
    this.downstream.fail(error)
  }
}
