/** Connections that take no more requests and finish those that run on them. Most clients never have one. */
import type { Connection } from '../../connection/connection.ts'

export class DrainingConnections {
  #connections: Set<Connection> | null = null

  get isEmpty(): boolean {
    return this.#connections === null
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
