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

/** A class instead of functions: a pool may have thousands of clients. */
export class ClientEvents<Client extends EventEmitter> implements SessionOwner {
  readonly client: Client
  readonly #url: URL
  readonly #onIdle: (client: Client) => void

  /** @param onIdle For the dispatcher that made the client, and forgets it when it is idle. */
  constructor(client: Client, url: URL, onIdle: (client: Client) => void) {
    this.client = client
    this.#url = url
    this.#onIdle = onIdle
  }

  onConnected(): void {
    this.#emit('connect', this.#url, [this.client])
  }

  onDisconnected({ error }: EndReason): void {
    this.#emit('disconnect', this.#url, [this.client], error)
  }

  onUnreachable(requests: readonly Request[]): readonly Request[] {
    return requests
  }

  onConnectFailed({ error }: EndReason): void {
    this.#emit('connectionError', this.#url, [this.client], error)
  }

  onRoom(): void {
    // With each response, and few listen.
    if (this.client.listenerCount('drain') > 0) this.#emit('drain', this.#url, [this.client])
  }

  onCapacityKnown(): void {
    this.#emit(CAPACITY_KNOWN)
  }

  onIdle(): void {
    this.#onIdle(this.client)
  }

  onPing(milliseconds: number): void {
    this.#emit('ping', milliseconds)
  }

  onHandlerError(error: unknown): void {
    this.#emit('error', error)
  }

  #emit(event: string | symbol, ...args: unknown[]): void {
    emitSafely(this.client, event, ...args)
  }
}
