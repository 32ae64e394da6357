/**
 * The events of a public client: what its session reports, for those who listen.
 */
import type { EventEmitter } from 'node:events'
import type { EndReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'
import { emitSafely } from '../events.ts'
import type { SessionOwner } from './session-owner.ts'

/** For a pool whose factory made the client. Not one of the public events, hence no string. */
export const CAPACITY_KNOWN: unique symbol = Symbol('capacity known')

export class ClientEvents implements SessionOwner {
  readonly #client: EventEmitter
  readonly #url: URL
  /** For the dispatcher that made the client, and forgets it when it is idle. */
  readonly #onIdle: () => void

  constructor(client: EventEmitter, url: URL, onIdle: () => void) {
    this.#client = client
    this.#url = url
    this.#onIdle = onIdle
  }

  onConnected(): void {
    emitSafely(this.#client, 'connect', this.#url, [this.#client])
  }

  onDisconnected({ error }: EndReason): void {
    emitSafely(this.#client, 'disconnect', this.#url, [this.#client], error)
  }

  onUnreachable(requests: readonly Request[]): readonly Request[] {
    return requests
  }

  onConnectFailed({ error }: EndReason): void {
    emitSafely(this.#client, 'connectionError', this.#url, [this.#client], error)
  }

  onRoom(): void {
    // With each response, and few listen.
    if (this.#client.listenerCount('drain') > 0) {
      emitSafely(this.#client, 'drain', this.#url, [this.#client])
    }
  }

  onCapacityKnown(): void {
    emitSafely(this.#client, CAPACITY_KNOWN)
  }

  onIdle(): void {
    this.#onIdle()
  }

  onPing(milliseconds: number): void {
    emitSafely(this.#client, 'ping', milliseconds)
  }

  onHandlerError(error: unknown): void {
    emitSafely(this.#client, 'error', error)
  }
}
