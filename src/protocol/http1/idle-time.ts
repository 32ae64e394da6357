/** How long an idle connection is worth keeping (RFC 9112 §9.3). */

export interface IdleTimes {
  /** Used when the peer gave no hint. */
  readonly keepAliveTimeout: number
  /** Never trust a hint beyond this. */
  readonly keepAliveMaxTimeout: number
  /** Subtracted from a hint: the peer's clock started earlier, and it may close while our request travels. */
  readonly keepAliveTimeoutThreshold: number
}

/** Milliseconds for which the idle connection may be kept; 0: not at all. */
export function idleTime(hintSeconds: number | null, times: IdleTimes): number {
  if (hintSeconds === null) return times.keepAliveTimeout
  const trusted = hintSeconds * 1000 - times.keepAliveTimeoutThreshold
  return Math.max(0, Math.min(trusted, times.keepAliveMaxTimeout))
}
