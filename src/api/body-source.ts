/** What a response body asks of its request. */

/** The request, as its body needs it. */
export interface BodySource {
  pauseBody(): void
  resumeBody(): void
  /** The body was destroyed before all of it had come. */
  abortBody(error: unknown): void
  /** The body is consumed or destroyed. */
  bodyClosed(): void
}

/** The source of a body that is closed: the request and its promise need not live as long as the response does. */
export const NO_SOURCE: BodySource = { pauseBody() {}, resumeBody() {}, abortBody() {}, bodyClosed() {} }
