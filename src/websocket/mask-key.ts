/**
 * Masking keys. They come from the strong source that RFC 6455 §10.3 asks for, since a page that could guess
 * them could put chosen bytes on the wire; many at a time, since asking for four bytes costs as much as for
 * thousands.
 */
import { loadCrypto } from '../base/node/lazy-modules.ts'

const KEYS = new Uint32Array(1024)
let next = KEYS.length

export function nextMaskKey(): number {
  if (next === KEYS.length) {
    loadCrypto().randomFillSync(KEYS)
    next = 0
  }
  return KEYS[next++]!
}
