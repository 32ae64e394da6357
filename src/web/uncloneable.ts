/**
 * `structuredClone` copies the visible properties of an object, and our objects have none. Marked objects
 * make it throw instead.
 */

type Mark = (object: object) => void

let mark: Mark | null = null

/** Does nothing if the runtime cannot mark objects (Node 20). */
export function markUncloneable(object: object): void {
  mark ??= findMark()
  mark(object)
}

function findMark(): Mark {
  const { markAsUncloneable } = process.getBuiltinModule('node:worker_threads') as {
    markAsUncloneable?: Mark
  }
  return markAsUncloneable ?? (() => {})
}
