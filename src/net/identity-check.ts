/**
 * The check of a server's identity in one handshake: the caller's, or the runtime's. It runs where nothing
 * would catch what it throws, and a promise would count as a refusal without a reason, or as none. It also
 * remembers a refusal: the session of a server that was refused must not be resumed, because then nothing is
 * checked again.
 */
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { asError, isError } from '../base/error/as-error.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { loadTls } from '../base/node/lazy-modules.ts'
import { InvalidArgumentError } from '../errors.ts'

type Check = (hostname: string, certificate: PeerCertificate) => unknown

export class IdentityCheck {
  readonly #given: Check | null
  /**
   * False also where nothing was checked: a session was resumed, or the issuer of the certificate is unknown,
   * which the runtime reports itself.
   */
  isRefused = false
  /** Until when the certificate is valid, as the runtime writes it; null where nothing was checked. */
  validTo: string | null = null
  /** The check itself went wrong, which `rejectUnauthorized: false` does not excuse. */
  #fault: Error | null = null

  /** @param given null for the runtime's */
  constructor(given: Check | null) {
    this.#given = given
  }

  /** What the runtime calls. */
  readonly run = (hostname: string, certificate: PeerCertificate): Error | undefined => {
    this.validTo = certificate?.valid_to ?? null
    const refusal = this.#ask(hostname, certificate)
    this.isRefused = refusal !== undefined
    return refusal
  }

  /** Ends a connection that the runtime has let through although its check went wrong. */
  enforce(socket: TLSSocket): void {
    if (this.#fault !== null) socket.destroy(this.#fault)
  }

  #ask(hostname: string, certificate: PeerCertificate): Error | undefined {
    let answer: unknown
    try {
      const check = this.#given ?? loadTls().checkServerIdentity
      answer = check(hostname, certificate)
    } catch (thrown) {
      this.#fault = asError(thrown, 'checkServerIdentity failed')
      return this.#fault
    }
    if (answer === undefined || answer === null) return undefined
    if (isError(answer)) return answer
    ignoreRejection(answer)
    this.#fault = new InvalidArgumentError('checkServerIdentity must return an Error or undefined')
    return this.#fault
  }
}

/**
 * Chooses a key in place of a certificate (RFC 4279, RFC 8446 §4.2.11), and is called where nothing would
 * catch it, either.
 */
export function containedPsk<Key>(
  given: (hint: string | null) => Key,
  onError: (error: Error) => void,
): (hint: string | null) => Key | null {
  return (hint) => {
    try {
      const key = given(hint)
      ignoreRejection(key)
      return key
    } catch (thrown) {
      onError(asError(thrown, 'pskCallback failed'))
      return null
    }
  }
}
