/**
 * `structuredClone` copies the visible properties of an object, and our objects have none. Marked objects
 * make it throw instead.
 */

interface Threads {
  /** Node 20 has none. */
  markAsUncloneable?(object: object): void
}

let threads: Threads | null = null

export function markUncloneable(object: object): void {
  threads ??= process.getBuiltinModule('node:worker_threads') as Threads
  threads.markAsUncloneable?.(object)
}
