/**
 * The body of a request that waits before a dispatcher has it: an error that has no listener would end the
 * process.
 */
import { isStream } from './body-source.ts'

/**
 * Listens to a body that is a stream. Returns the function that ends this; null for a body that cannot fail
 * by itself.
 */
export function watchBody(body: unknown, onError: (error: unknown) => void): (() => void) | null {
  if (!isStream(body)) return null
  body.on('error', onError)
  return () => void body.removeListener?.('error', onError)
}
