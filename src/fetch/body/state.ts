/**
 * Where the body of a request or a response stands:
 * - `held`: known or arriving; not read yet
 * - `collecting`: being collected by `text()` or the like
 * - `used`: collected, sent, or handed over
 * - `streamed`: read through a stream
 * - `failed`
 */
export type BodyState = 'held' | 'collecting' | 'used' | 'streamed' | 'failed'
