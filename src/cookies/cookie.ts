/** The type of a cookie. */

/** One cookie, as `Set-Cookie` describes it. */
export interface Cookie {
  /** May be empty. */
  name: string
  /** As received: not decoded, not unquoted. */
  value: string
  /** A number counts milliseconds since the Unix epoch; a cookie that was read has a `Date`. */
  expires?: Date | number
  /** Seconds. */
  maxAge?: number
  /** Hosts that get it. Default: the one that set it. */
  domain?: string
  /** Paths that get it. */
  path?: string
  /** Only over secure connections. */
  secure?: boolean
  /** Not for scripts. */
  httpOnly?: boolean
  /** Whether requests from other sites have it. */
  sameSite?: 'Strict' | 'Lax' | 'None'
  /** Attributes that have no field here, each as `name=value`. */
  unparsed?: string[]
}

export const SAME_SITES: readonly NonNullable<Cookie['sameSite']>[] = ['Strict', 'Lax', 'None']
