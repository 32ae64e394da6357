/**
 * One request that passes through: its caller gets what its attempt brings, unless a subclass decides
 * otherwise.
 */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { Attempt, type AttemptOwner, type Send } from './attempt.ts'
import { Downstream } from './downstream.ts'
import type { Head } from './response-source.ts'

export abstract class RelayedRequest implements AttemptOwner {
  protected readonly downstream: Downstream

  constructor(handler: DispatchHandler) {
    this.downstream = new Downstream(handler)
  }

  /** Throws what the dispatcher throws. */
  protected sendBelow(dispatch: Send, opts: DispatchOptions): boolean {
    const attempt = new Attempt(this, this.downstream)
    this.downstream.source = attempt
    return attempt.send(dispatch, opts)
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

  onEnd({ controller }: Attempt, trailers: HeaderObject): void {
    this.downstream.end(trailers, controller)
  }

  onUpgrade({ controller }: Attempt, head: Head, socket: Duplex): void {
    this.downstream.upgrade(head, socket, controller)
  }

  onFailed(_attempt: Attempt, error: Error): void {
    this.downstream.fail(error)
  }
}
