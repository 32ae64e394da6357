/**
 * `fetch` with all that it takes at run time, which is what `Request` takes. Its declared type has what every
 * implementation takes.
 */
import { type Request, type Response, fetch as typedFetch } from '../../src/index.ts'

export const fetch = typedFetch as (...args: ConstructorParameters<typeof Request>) => Promise<Response>
