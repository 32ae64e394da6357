/** `structuredClone` copies what it can see of an object, which is nothing of ours: it is told to refuse. */

type Mark = (object: object) => void

let mark: Mark | null = null

/** Does nothing where the runtime has no way to tell it (Node 20). */
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
