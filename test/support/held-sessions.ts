/**
 * The cache of TLS sessions holds them weakly. A test that expects a resumption must not depend on the runtime's
 * garbage collection.
 */
import { TlsSessionCache } from '../../src/net/tls-session-cache.ts'

const held: Buffer[] = []

/** From now on, every session that is cached in this process stays in the cache. */
export function holdTlsSessions(): void {
  const { set } = TlsSessionCache.prototype
  TlsSessionCache.prototype.set = function (this: TlsSessionCache, key: string, session: Buffer): void {
    held.push(session)
    set.call(this, key, session)
  }
}
