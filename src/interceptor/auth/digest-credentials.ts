/** `Digest`: answers the last challenge of an origin, also before it is challenged again (RFC 7616 §3.6). */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldLines, singleField } from '../../relay/fields.ts'
import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { readChallenges } from './challenges.ts'
import { type Credentials, NO_PROOF, type Proof } from './credentials.ts'
import { nextNonceOf, strongestDigest } from './digest-challenge.ts'
import { DigestSession } from './digest-session.ts'
import type { AuthUser } from './options.ts'

interface DigestProof extends Proof {
  readonly session: DigestSession
}

export class DigestCredentials implements Credentials {
  readonly #user: AuthUser
  #session: DigestSession | null = null

  constructor(user: AuthUser) {
    this.#user = user
  }

  prove({ method, path, query }: DispatchOptions): Proof {
    const session = this.#session
    if (session === null) return NO_PROOF
    const proof: DigestProof = { field: session.answer({ method, uri: withQuery(path, query) }), session }
    return proof
  }

  leave(): void {}

  onRefused(_proof: Proof, headers: HeaderObject, repeats: number): boolean {
    const challenge = strongestDigest(readChallenges(fieldLines(headers, 'www-authenticate')))
    if (challenge === null) return false
    if (!this.#session?.answers(challenge)) this.#session = new DigestSession(challenge, this.#user)
    // The first repetition answers the challenge. If that is refused, the credentials are wrong, or the nonce was
    // used up meanwhile: a server may accept each only once.
    return repeats === 0 || (repeats === 1 && challenge.isStale)
  }

  onAnswered(proof: Proof, headers: HeaderObject): void {
    const session = this.#session
    if (session === null || (proof as Partial<DigestProof>).session !== session) return
    const nonce = nextNonceOf(singleField(headers, 'authentication-info'))
    if (nonce !== null) session.nonce = nonce
  }
}
