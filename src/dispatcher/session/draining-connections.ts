/** Connections that take no more requests and finish those that run on them. Most clients never have one. */
import type { Connection } from '../../connection/connection.ts'

/**
 * Connections that finish their requests while others are made for other TLS server names. A session has one connection
 * for new requests, so each change of the name makes another one.
 */
const MAX_OTHER_NAMES = 16

export class DrainingConnections {
  #connections: Set<Connection> | null = null

  get isEmpty(): boolean {
    return this.#connections === null
  }

  /** No other may be retired because of its server name. */
  get isFull(): boolean {
    return this.#connections !== null && this.#connections.size >= MAX_OTHER_NAMES
  }

  /** Requests that run on them. */
  get running(): number {
    let running = 0
    if (this.#connections !== null) for (const connection of this.#connections) running += connection.running
    return running
  }

  all(): Connection[] {
    return [...(this.#connections ?? [])]
  }

  /** False when it drains already. */
  add(connection: Connection): boolean {
    this.#connections ??= new Set()
    if (this.#connections.has(connection)) return false
    this.#connections.add(connection)
    return true
  }

  /** False when it did not drain. */
  delete(connection: Connection): boolean {
    const wasDraining = this.#connections?.delete(connection) ?? false
    if (this.#connections?.size === 0) this.#connections = null
    return wasDraining
  }
}
