/** The challenges of the scheme `Digest` (RFC 7616 §3.3): which of them is answered, and with what. */
import { type Challenge, readParameters } from './challenges.ts'

export interface DigestChallenge {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | null
  /** As the server has spelled it; null if it names none, which means MD5. */
  readonly algorithm: string | null
  /** The hash by the name that the runtime has for it. */
  readonly hash: string
  /** The key is made once for each challenge. */
  readonly isSession: boolean
  /** Null from servers of RFC 2069, which count nothing. */
  readonly qop: 'auth' | null
  /** The server gets the hash of the name. */
  readonly hidesName: boolean
  /** The credentials are right, and the nonce is too old. */
  readonly isStale: boolean
}

/** From weak to strong. `auth-int` is no reason to choose one: it would have to read the body before it is sent. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['md5', 'md5'],
  ['sha-256', 'sha256'],
  ['sha-512-256', 'sha512-256'],
])
const STRENGTHS = [...HASHES.values()]

/** The strongest that can be answered, the first of two that are alike; null if there is none. */
export function strongestDigest(challenges: readonly Challenge[]): DigestChallenge | null {
  const known = challenges.map(readDigest).filter((challenge) => challenge !== null)
  const strength = ({ hash }: DigestChallenge): number => STRENGTHS.indexOf(hash)
  return known.reduce<DigestChallenge | null>(
    (best, one) => (best === null || strength(one) > strength(best) ? one : best),
    null,
  )
}

function readDigest({ scheme, parameters }: Challenge): DigestChallenge | null {
  const realm = parameters.get('realm')
  const nonce = parameters.get('nonce')
  if (scheme !== 'digest' || realm === undefined || nonce === undefined) return null
  const algorithm = parameters.get('algorithm') ?? null
  const [, name, session] = /^(.*?)(-sess)?$/is.exec((algorithm ?? 'md5').toLowerCase())!
  const hash = HASHES.get(name!)
  const offered = parameters
    .get('qop')
    ?.toLowerCase()
    .split(/[ \t]*,[ \t]*/)
  const isSession = session !== undefined
  // Without a qop there is no nonce of the client, which the key of a session needs.
  if (hash === undefined || (offered === undefined ? isSession : !offered.includes('auth'))) return null
  return {
    realm,
    nonce,
    opaque: parameters.get('opaque') ?? null,
    algorithm,
    hash,
    isSession,
    qop: offered === undefined ? null : 'auth',
    hidesName: parameters.get('userhash')?.toLowerCase() === 'true',
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  }
}

/** The nonce for the next request (§3.5); null if the server has sent none. */
export function nextNonceOf(field: string | null): string | null {
  return field === null ? null : (readParameters(field)?.get('nextnonce') ?? null)
}
