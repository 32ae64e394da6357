/**
 * Masking keys. RFC 6455 §10.3 requires a strong source of randomness: a page that could guess the keys could
 * put chosen bytes on the wire. They are drawn in bulk, because four random bytes cost as much as thousands.
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
