/**
 * Owns the TLS sessions a connector may resume. One cache belongs to one connector, hence to one set of TLS
 * options; the key holds everything else a session depends on. A resumed handshake skips the check of the
 * server's identity, so a session must never meet another host or port (CVE-2026-48934).
 */
import type { TLSSocket } from 'node:tls'
import type { IdentityCheck } from './identity-check.ts'

/**
 * Until when the certificate is valid, by the session that it was checked for, and by the socket: a resumed
 * handshake shows no certificate.
 */
const expiries = new WeakMap<object, string>()

/** Until when the certificate of the server is valid, as the runtime writes it; null if there is none. */
export function certificateExpiry(socket: object): string | null {
  const known = expiries.get(socket)
  if (known !== undefined) return known
  const { getPeerCertificate } = socket as { getPeerCertificate?: () => { valid_to?: string } | null }
  return getPeerCertificate?.call(socket)?.valid_to ?? null
}

/** Sessions are held weakly: where memory is short, a full handshake costs less. */
export class TlsSessionCache {
  readonly #limit: number
  /** Oldest first: a Map iterates in the order of insertion. */
  readonly #sessions = new Map<string, WeakRef<Buffer>>()

  /** @param limit how many sessions to keep; 0 keeps none */
  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#sessions.size
  }

  get(key: string): Buffer | null {
    return this.#sessions.get(key)?.deref() ?? null
  }

  set(key: string, session: Buffer): void {
    if (this.#limit === 0) return
    if (!this.#sessions.delete(key) && this.#sessions.size >= this.#limit) this.#makeRoom()
    this.#sessions.set(key, new WeakRef(session))
  }

  /** Forgets a session that a server would not resume. */
  delete(key: string): void {
    this.#sessions.delete(key)
  }

  /** Drops one: the first that was collected, else the oldest. */
  #makeRoom(): void {
    const entries = [...this.#sessions]
    const [key] = entries.find(([, session]) => session.deref() === undefined) ?? entries[0]!
    this.#sessions.delete(key)
  }
}

/** `servername` and `hostname` both count: one name may be presented to several hosts. */
export function sessionKey(servername: string | null, hostname: string, port: string | number): string {
  return `${servername ?? ''}|${hostname}|${port}`
}

/**
 * Stores the sessions of this socket once its server has proved who it is. One that comes before that (TLS
 * 1.2) waits: to resume the session of an impostor would skip the very check it failed. `offered`: the one
 * that it may resume.
 */
export function keepSessions(
  socket: TLSSocket,
  sessions: TlsSessionCache,
  key: string,
  check: IdentityCheck,
  offered: Buffer | null,
): void {
  let reached = !socket.connecting
  let verified = false
  let early: Buffer | null = null
  const keep = (session: Buffer): void => {
    sessions.set(key, session)
    noteExpiry(session)
  }
  const noteExpiry = (of: object): void => {
    const validTo = check.validTo ?? (offered === null ? null : (expiries.get(offered) ?? null))
    if (validTo !== null) expiries.set(of, validTo)
  }
  const onError = (): void => {
    // The session may be at fault, unless not even the address was reached.
    if (reached) sessions.delete(key)
  }
  socket.on('session', (session: Buffer) => {
    if (!verified) early = session
    // With `rejectUnauthorized: false` a refusal goes through; a resumed session would no longer show it.
    else if (!check.isRefused) keep(session)
  })
  socket.once('error', onError)
  socket.once('connect', () => {
    reached = true
  })
  socket.once('secureConnect', () => {
    verified = true
    socket.off('error', onError)
    if (check.isRefused) sessions.delete(key)
    else if (early !== null) keep(early)
    noteExpiry(socket)
    early = null
    check.enforce(socket)
  })
}
