/** Bodies that are told only when their hash is the one that was asked for. */
import { toBytes } from '../api/body/collect.ts'
import { Body } from './body.ts'
import { matchesIntegrity, parseIntegrity } from './integrity.ts'

/** The same body, all of it known. Rejects with the reason why it cannot be told. */
export async function verifiedBody(body: Body | null, integrity: string): Promise<Body | null> {
  const bytes = body === null ? new Uint8Array() : await body.collect(toBytes)
  if (!matchesIntegrity(bytes, parseIntegrity(integrity))) throw new Error('integrity mismatch')
  return body === null ? null : new Body(bytes)
}
