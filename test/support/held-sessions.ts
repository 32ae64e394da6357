/**
 * The cache of TLS sessions holds them weakly. A test that expects one to be resumed must not depend on when
 * the runtime collects its memory.
 */
import { TlsSessionCache } from '../../src/net/tls-session-cache.ts'

const held: Buffer[] = []

/** From now on every session that is cached in this process stays there. */
export function holdTlsSessions(): void {
  const { set } = TlsSessionCache.prototype
  TlsSessionCache.prototype.set = function (this: TlsSessionCache, key: string, session: Buffer): void {
    held.push(session)
    set.call(this, key, session)
  }
}
