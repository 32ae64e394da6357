/** What a response body asks of the request that it belongs to. */

/** The request, as its response body sees it. */
export interface BodyUpstream {
  pauseBody(): void
  resumeBody(): void
  /** The body was destroyed before all of it had arrived. */
  abortBody(error: unknown): void
  /** The body is consumed or destroyed. */
  bodyClosed(): void
}

/**
 * Replaces the upstream of a closed body, so that a kept response does not keep its request and promise
 * alive.
 */
export const NO_UPSTREAM: BodyUpstream = { pauseBody() {}, resumeBody() {}, abortBody() {}, bodyClosed() {} }
