/** A stack of interceptors for runs that must be the same each time: without jitter and budget. */
import { type Interceptor, interceptors } from '../../src/index.ts'

export function repeatableStack(): Interceptor[] {
  return [
    interceptors.retry({ maxRetries: 2, minTimeout: 20, jitter: 0 }),
    interceptors.cache({ collapse: true }),
    interceptors.decompress(),
    interceptors.redirect({ maxRedirections: 2 }),
  ]
}
