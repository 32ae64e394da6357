/** A Writable that collects a body and stores it when it has finished. One that is too long is not stored. */
import { Writable } from 'node:stream'
import { BodyLog } from '../../relay/body-log.ts'
import type { CacheKey, CacheValue, WholeStore } from './cache-store.ts'
import { checkedUrl } from './store-arguments.ts'

export function entryStream(store: WholeStore, key: CacheKey, value: CacheValue): Writable {
  checkedUrl(key, value)
  let log: BodyLog | null = new BodyLog()
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (log !== null && log.size + chunk.length > store.maxEntrySize) log = null
      log?.append(chunk)
      done()
    },
    // Within `end()`: a response that was written can be read at once.
    final(done) {
      try {
        if (log !== null) store.set(key, { ...value, body: log.blocks() })
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}
