/**
 * Who follows one request through the layers below: an interceptor further out that has to know what they do
 * about it, and not only how it ends. It goes with the options of the request, and so through every layer
 * that makes a copy of them. Does not know what the layers are.
 */
import type { DispatchOptions } from '../request/dispatch-options.ts'

/**
 * What a cache did: it has served what it had (`hit`), also after its time (`stale`) or after asking the
 * origin (`revalidated`); it has passed the origin's response on (`miss`), maybe that of another request
 * (`collapsed`).
 */
export type CacheResult = 'hit' | 'stale' | 'revalidated' | 'miss' | 'collapsed'

export type CircuitState = 'closed' | 'open' | 'half-open'

/** Its methods are called from anywhere, and must not throw. */
export interface RequestWatcher {
  /** An attempt has failed with this error, and another one follows. */
  onRetried(error: unknown): void
  /** Once for each response that a cache has handled. */
  onCacheResult(result: CacheResult): void
  /** The request has changed the state of a circuit. */
  onCircuit(state: CircuitState): void
}

const WATCHER = Symbol('ventuno.requestWatcher')

type Watched = DispatchOptions & { [WATCHER]?: RequestWatcher | null }

/** A copy of the options that the watcher goes with, in place of any other. */
export function withWatcher(opts: DispatchOptions, watcher: RequestWatcher | null): DispatchOptions {
  const watched: Watched = opts
  // Node 20 makes a slow object of a spread to which a property is added.
  if (WATCHER in opts) return { ...watched, [WATCHER]: watcher } as Watched
  return { [WATCHER]: watcher, ...watched } as Watched
}

export function watcherOf(opts: DispatchOptions): RequestWatcher | null {
  return (opts as Watched)[WATCHER] ?? null
}
