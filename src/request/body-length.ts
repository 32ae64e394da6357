/**
 * How long a request body is declared to be. The same over both protocols.
 */

/** Methods whose empty body is still announced, with `content-length: 0` (RFC 9110 §8.6). */
const PAYLOAD_METHODS = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'])

export function expectsPayload(method: string): boolean {
  return PAYLOAD_METHODS.has(method)
}

/** The length to announce: null when there is none to announce or it cannot be known. */
export function lengthToSend(method: string, known: number | null, declared: number | null): number | null {
  if (known === null) return declared
  return known === 0 && !expectsPayload(method) ? null : known
}

/**
 * The caller declared one length and brought another: an attacker who controls the body could then decide
 * where the next request begins.
 */
export function lengthMismatch(known: number | null, declared: number | null): boolean {
  return known !== null && declared !== null && declared !== known
}
