/** Withholds a body until its hash has matched. */
import { toBytes } from '../../body/collect.ts'
import { Body } from './body.ts'
import { matchesIntegrity, parseIntegrity } from './integrity.ts'

/** The same body, completely read. Rejects if it fails, or if no hash matches. */
export async function verifiedBody(body: Body | null, integrity: string): Promise<Body | null> {
  const bytes = body === null ? new Uint8Array() : await body.collect(toBytes)
  if (!matchesIntegrity(bytes, parseIntegrity(integrity))) throw new Error('integrity mismatch')
  return body === null ? null : new Body(bytes)
}
