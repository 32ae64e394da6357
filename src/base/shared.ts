/**
 * What all copies of the library in a process have in common. A process has several when the package is both
 * imported and required, or bundled. The place is made when something is first kept in it: importing the library
 * leaves the global object as it was.
 */
const PLACE = Symbol.for('ventuno.shared.1')

type Place = Map<string, unknown>

/** Gives the one thing of this name. Where the global object is frozen, each copy has its own. */
export function shared<T>(name: string, make: () => T): () => T {
  let known: { readonly thing: T } | null = null
  return () => {
    known ??= { thing: find(name, make) }
    return known.thing
  }
}

function find<T>(name: string, make: () => T): T {
  const place = findPlace()
  if (!place.has(name)) place.set(name, make())
  return place.get(name) as T
}

function findPlace(): Place {
  const globals = globalThis as unknown as Record<symbol, Place | undefined>
  const place = globals[PLACE] ?? new Map<string, unknown>()
  Reflect.defineProperty(globalThis, PLACE, { value: place, enumerable: false })
  return place
}
