/** A request and its response, as plain data. */
import type { Readable } from 'node:stream'
import type { CookieJar } from '../index.ts'
import type { Options } from './options.ts'
import type { Field } from './secrets.ts'

export type { Field }

export interface Outgoing extends Pick<Options, 'url' | 'timeout' | 'retry' | 'location' | 'compressed'> {
  readonly method: string
  readonly headers: readonly Field[]
  /** A stream is read once: it is not sent again. */
  readonly body: Buffer | Readable | null
  /** Bytes of the body; 0 if that is not known. */
  readonly size: number
  /** Null: cookies are neither sent nor kept. */
  readonly jar: CookieJar | null
}

export const EMPTY_RESPONSE = {
  status: 0,
  statusText: '',
  headers: [] as readonly Field[],
  trailers: [] as readonly Field[],
  /** Bytes of the body as received. */
  size: 0,
  /** The beginning of the body, or all of it. */
  body: Buffer.alloc(0),
}

export type Incoming = typeof EMPTY_RESPONSE

/** The value of the first field of this name. */
export function field(headers: readonly Field[], wanted: string): string | null {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null
}

export function requestOptions({ url, method, headers, body }: Outgoing) {
  const path = url.pathname + url.search
  // It does not end its connection either: a redirect may follow on it.
  const reset = method === 'HEAD' ? false : null
  return { origin: url.origin, path, method, headers: headers.flat(), body, reset }
}
