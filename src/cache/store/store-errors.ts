/**
 * What goes wrong with stores is told on the channel `ventuno:cache:error`: no request fails because of it.
 */
import { readableError } from '../../base/error/as-error.ts'
import { channels } from '../../diagnostics.ts'
import type { CacheKey } from './cache-store.ts'

export type StoreOperation = 'get' | 'write' | 'update' | 'delete'

export function reportStoreError(operation: StoreOperation, key: CacheKey, error: unknown): void {
  if (channels.cacheError.hasSubscribers)
    channels.cacheError.publish({ operation, key, error: readableError(error) })
}
