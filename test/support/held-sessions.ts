/**
 * The cache of TLS sessions holds them weakly. A test that expects a resumption must not depend on the runtime's
 * garbage collection.
 */
import { TLSSocket } from 'node:tls'

const held: unknown[] = []

/** From now on, every TLS session of this process stays in memory, and so in the cache, also in that of the built package. */
export function holdTlsSessions(): void {
  const { emit } = TLSSocket.prototype as { emit(this: TLSSocket, ...event: unknown[]): boolean }
  TLSSocket.prototype.emit = function (this: TLSSocket, ...event: unknown[]) {
    if (event[0] === 'session') held.push(event[1])
    return emit.apply(this, event)
  }
}
