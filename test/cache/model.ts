/**
 * An independent judge of the cache: remembers every response that the origin sent, and says of each one that a caller
 * got whether RFC 9111 lets a shared cache serve it. It shares no code with the library.
 */

/** Seconds: the lifetime of a response that says nothing but `immutable`. */
const YEAR = 365 * 86_400

/** Members of Cache-Control that leave open what the field forbids. */
const UNREADABLE: ReadonlySet<string> = new Set(['a b', 'x="', '\xa0public'])

/** Members that permit nothing, however it may look. */
export const ODD_MEMBERS: readonly string[] = [
  ...UNREADABLE,
  'public=',
  'must-revalidate=',
  's-maxage=x',
  'no-cache="authorization"',
]

export interface Sent {
  readonly id: number
  /** With the virtual host, if it is not that of the origin. */
  readonly url: string
  /** When the request was sent, and when the head arrived. */
  readonly at: number
  readonly maxAge: number | null
  readonly sMaxAge: number | null
  readonly age: number
  readonly flags: ReadonlySet<string>
  /** A member that is not well-formed; empty if there is none. */
  readonly odd: string
  readonly swr: number
  readonly sie: number
  readonly etag: string | null
  /** The value of `accept` that it was made for, if it varies by it. */
  readonly accept: string | null
  readonly varies: boolean
  readonly setsCookie: boolean
  readonly authorized: boolean
  /** When the origin has last confirmed it, and with what age. */
  confirmed: { at: number; age: number }
  /** It was made before the last change of its URL. */
  invalidated: boolean
}

export interface Asked {
  readonly url: string
  readonly accept: string
  readonly control: {
    readonly maxAge?: number
    readonly minFresh?: number
    readonly maxStale?: number
    readonly flags: ReadonlySet<string>
  }
}

/** Why the response must not be served from a cache now; null if it may be. `down`: the origin failed this request. */
export function forbidden(sent: Sent, asked: Asked, now: number, down: boolean): string | null {
  const { flags } = sent
  if (sent.url !== asked.url) return 'another URL'
  if (flags.has('no-store')) return 'no-store'
  if (flags.has('private')) return 'private'
  if (sent.setsCookie) return 'set-cookie'
  if (sent.varies && sent.accept !== asked.accept) return 'another variant'
  if (UNREADABLE.has(sent.odd)) return 'malformed'
  if (sent.authorized) {
    if (sent.odd === 'no-cache="authorization"') return 'authorization is named'
    const permits = (name: string): boolean => flags.has(name) && sent.odd !== `${name}=`
    const forAll = permits('public') || permits('must-revalidate')
    if (!forAll && (sent.sMaxAge === null || sent.odd === 's-maxage=x')) return 'authorization'
  }
  if (sent.invalidated) return 'invalidated'
  const lifetime =
    sent.odd === 's-maxage=x' ? 0 : (sent.sMaxAge ?? sent.maxAge ?? (flags.has('immutable') ? YEAR : 0))
  const age = sent.confirmed.age * 1000 + (now - sent.confirmed.at)
  const staleness = age - lifetime * 1000
  const strict = flags.has('must-revalidate') || flags.has('proxy-revalidate') || sent.sMaxAge !== null
  if (flags.has('no-cache')) return 'no-cache'
  if (asked.control.flags.has('no-cache')) return 'no-cache of the request'
  if (staleness < 0) {
    if (
      asked.control.maxAge !== undefined &&
      age >= asked.control.maxAge * 1000 &&
      !(asked.control.maxAge === 0 && flags.has('immutable'))
    ) {
      return down && age < (lifetime + sent.sie) * 1000 && !strict ? null : 'too old for the request'
    }
    if (asked.control.minFresh !== undefined && -staleness < asked.control.minFresh * 1000) {
      return down && sent.sie > 0 && !strict ? null : 'not fresh for long enough'
    }
    return null
  }
  if (strict) return 'stale, must be revalidated'
  if (down && staleness < sent.sie * 1000) return null
  if (asked.control.maxAge !== undefined && age >= asked.control.maxAge * 1000)
    return 'too old for the request'
  if (asked.control.minFresh !== undefined) return 'stale, min-fresh'
  if (asked.control.maxStale !== undefined && staleness <= asked.control.maxStale * 1000) return null
  if (staleness < sent.swr * 1000) return null
  return 'stale'
}
