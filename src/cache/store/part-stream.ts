/** A Writable that stores a body in parts while it arrives, and the response when it has ended. */
import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import type { RemoteClient } from '../../redis/redis-client.ts'

/** A shorter body is stored with the head, and needs no part. */
const PART_SIZE = 256 * 1024

export interface StoredParts {
  /** The keys of all parts but the last one, which is with the head. */
  readonly names: readonly string[]
  /** Bytes of the whole body. */
  readonly size: number
}

export interface PartPlace {
  readonly remote: RemoteClient
  /** What the keys of the parts begin with. */
  readonly name: string
  /** How long the parts are kept, in milliseconds. */
  readonly life: number
  /** Most bytes. A longer body is not stored. */
  readonly limit: number
}

type OnEnd = (parts: StoredParts, rest: Buffer) => Promise<void>

export function partStream({ remote, name, life, limit }: PartPlace, onEnd: OnEnd): Writable {
  const names: string[] = []
  let pending: Buffer[] = []
  let pendingSize = 0
  let size = 0
  let isStored = false
  const writePart = async (): Promise<void> => {
    const part = Buffer.concat(pending)
    pending = []
    pendingSize = 0
    const partName = `${name}:${names.length}`
    names.push(partName)
    await remote.set(partName, part, life)
  }
  const finish = async (): Promise<void> => {
    if (size > limit) return
    await onEnd({ names, size }, Buffer.concat(pending))
    isStored = true
  }
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length
      pending.push(chunk)
      pendingSize += chunk.length
      if (size > limit) pending = []
      if (size > limit || pendingSize < PART_SIZE) done()
      else writePart().then(() => done(), done)
    },
    final(done) {
      finish().then(() => done(), done)
    },
    destroy(error, done) {
      // What cannot be removed now expires.
      if (!isStored && names.length > 0) remote.delete(names).catch(() => {})
      done(error)
    },
  })
}
