/**
 * How long a request body is declared to be (contract: dispatcher.md 5.2). The same over both protocols.
 */

/** Methods whose empty body is still announced, with `content-length: 0` (RFC 9110 §8.6). */
const PAYLOAD_METHODS = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'])

/** Methods for which a wrong declared length is put right silently: servers do not expect a body there. */
const BODYLESS_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT'])

export function expectsPayload(method: string): boolean {
  return PAYLOAD_METHODS.has(method)
}

/** The length to announce: null when there is none to announce or it cannot be known. */
export function lengthToSend(method: string, known: number | null, declared: number | null): number | null {
  const length = known ?? declared
  return length === 0 && !expectsPayload(method) ? null : length
}

/** The caller declared one length and brought another. */
export function lengthMismatch(method: string, known: number | null, declared: number | null): boolean {
  return (
    known !== null && known > 0 && declared !== null && declared !== known && !BODYLESS_METHODS.has(method)
  )
}
