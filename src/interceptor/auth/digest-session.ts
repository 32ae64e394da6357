/** The answers to one challenge of the scheme `Digest` (RFC 7616 §3.4). */
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import type { DigestChallenge } from './digest-challenge.ts'
import type { AuthUser } from './options.ts'

/** A request, as it is hashed. */
export interface DigestTarget {
  readonly method: string
  /** The request target. */
  readonly uri: string
}

export class DigestSession {
  readonly #challenge: DigestChallenge
  /** Each character of the texts here stands for a byte: what the server has sent is hashed as it has come. */
  readonly #name: string
  readonly #cnonce: string
  /** H(A1). */
  readonly #key: string
  #nonce: string
  /** How many requests were sent with the nonce: the server refuses a number that it has seen. */
  #count = 0

  constructor(challenge: DigestChallenge, { username, password }: AuthUser, cnonce: string = newCnonce()) {
    const { realm, nonce, isSession } = challenge
    this.#challenge = challenge
    this.#nonce = nonce
    this.#cnonce = cnonce
    this.#name = bytesOf(username)
    const key = this.#hash(`${this.#name}:${realm}:${bytesOf(password)}`)
    this.#key = isSession ? this.#hash(`${key}:${nonce}:${cnonce}`) : key
  }

  /** Whether this is an answer to the same challenge, whose requests have been counted. */
  answers({ realm, nonce, algorithm, opaque }: DigestChallenge): boolean {
    const own = this.#challenge
    return (
      nonce === this.#nonce && realm === own.realm && algorithm === own.algorithm && opaque === own.opaque
    )
  }

  set nonce(nonce: string) {
    if (nonce === this.#nonce) return
    this.#nonce = nonce
    this.#count = 0
  }

  /** The value of `authorization` for the next request. */
  answer({ method, uri }: DigestTarget): string {
    const { realm, opaque, algorithm, qop, hidesName } = this.#challenge
    const nc = (++this.#count).toString(16).padStart(8, '0')
    const middle = qop === null ? this.#nonce : `${this.#nonce}:${nc}:${this.#cnonce}:${qop}`
    const response = this.#hash(`${this.#key}:${middle}:${this.#hash(`${method}:${uri}`)}`)
    const fields = [
      hidesName ? `username=${quoted(this.#hash(`${this.#name}:${realm}`))}` : nameField(this.#name),
      `realm=${quoted(realm)}`,
      `nonce=${quoted(this.#nonce)}`,
      `uri=${quoted(uri)}`,
      `response="${response}"`,
    ]
    if (algorithm !== null) fields.push(`algorithm=${algorithm}`)
    if (qop !== null) fields.push(`qop=${qop}`, `nc=${nc}`, `cnonce="${this.#cnonce}"`)
    if (opaque !== null) fields.push(`opaque=${quoted(opaque)}`)
    if (hidesName) fields.push('userhash=true')
    return `Digest ${fields.join(', ')}`
  }

  #hash(bytes: string): string {
    return loadCrypto().createHash(this.#challenge.hash).update(bytes, 'latin1').digest('hex')
  }
}

function newCnonce(): string {
  return loadCrypto().randomBytes(24).toString('base64url')
}

/** In UTF-8, in one normal form (RFC 7616 §4). */
function bytesOf(text: string): string {
  return Buffer.from(text.normalize('NFC')).toString('latin1')
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** §3.4.4: a name beyond ASCII is in the form of RFC 5987. */
function nameField(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `username=${quoted(name)}`
  const encoded = name.replace(
    /[^A-Za-z0-9!#$&+.^_`|~-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return `username*=UTF-8''${encoded}`
}
