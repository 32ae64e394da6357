/** Compresses stored bodies with zstd, where the runtime has it. */
import { Buffer } from 'node:buffer'
import { loadZlib } from '../../base/node/lazy-modules.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldText, hasField } from '../../relay/fields.ts'

/** Not in the types of the oldest supported runtime. */
interface Zstd {
  zstdCompressSync?(bytes: Uint8Array): Buffer
  zstdDecompressSync?(bytes: Uint8Array): Buffer
}

const TEXT = /^(?:text\/|application\/(?:[^;]*\+)?(?:json|xml|javascript))/i

/** Shorter texts do not get shorter. */
const LEAST = 256

type Packed = { readonly body: Buffer; readonly encoding: 'zstd' | null }

export function compressed(blocks: readonly Buffer[], headers: HeaderObject, threshold: number): Packed {
  const body = blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks)
  const isText = TEXT.test(fieldText(headers, 'content-type') ?? '') && body.length >= LEAST
  const isPacked = (isText || body.length >= threshold) && !hasField(headers, 'content-encoding')
  const packed = isPacked ? (loadZlib() as Zstd).zstdCompressSync?.(body) : undefined
  return packed !== undefined && packed.length < body.length
    ? { body: packed, encoding: 'zstd' }
    : { body, encoding: null }
}

/** Null for a coding that this runtime does not know, and for invalid bytes. */
export function decompressed(bytes: Uint8Array, encoding: string | null): Buffer | null {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (encoding === null) return body
  if (encoding !== 'zstd') return null
  try {
    return (loadZlib() as Zstd).zstdDecompressSync?.(body) ?? null
  } catch {
    return null
  }
}
