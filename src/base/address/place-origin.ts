/**
 * The origin of a request, for its errors: `place` is the one that it names, or else its dispatcher. Empty if
 * that is not ours, or has several. Throws if the origin cannot be read.
 */
export function placeOrigin(place: unknown): string {
  if (typeof place === 'string' || place instanceof URL) return new URL(place).origin
  const { composedOrigin } = Object(place) as { composedOrigin?: () => unknown }
  const own = typeof composedOrigin === 'function' ? composedOrigin.call(place) : null
  return typeof own === 'string' ? own : ''
}
