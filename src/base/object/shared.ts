/**
 * Values that all copies of the library in a process share. A process has several when the package is both
 * imported and required, or bundled. The place for them is made on first use: importing the library leaves
 * the global object unchanged.
 */
const PLACE = Symbol.for('ventuno.shared.1')

/** The one value of this name. If the global object is frozen, each copy has its own. */
export function shared<T>(name: string, make: () => T): () => T {
  let known: { readonly thing: T } | null = null
  return () => {
    known ??= { thing: find(name, make) }
    return known.thing
  }
}

function find<T>(name: string, make: () => T): T {
  const globals = globalThis as unknown as Record<symbol, Map<string, unknown> | undefined>
  const place = globals[PLACE] ?? new Map<string, unknown>()
  Reflect.defineProperty(globalThis, PLACE, { value: place, enumerable: false })
  if (!place.has(name)) place.set(name, make())
  return place.get(name) as T
}
