/**
 * `instanceof` by a symbol of the registry, not by prototype: what one copy of the library has made matches the
 * class of another. A process has several when the package is both imported and required, or bundled.
 */

/** Class → its registry symbol. A user's subclass has no entry and gets the ordinary prototype check. */
const kinds = new WeakMap<object, symbol>()

/** Called behind the class, not in it: a bundler gives another name to a class that speaks of itself. */
export function defineKind(kindClass: { prototype: object }, name: string): void {
  const kind = Symbol.for(name)
  kinds.set(kindClass, kind)
  Object.defineProperty(kindClass.prototype, kind, { value: true })
}

export function isInstance(kindClass: object, value: unknown): boolean {
  const kind = kinds.get(kindClass)
  if (kind === undefined) return Function.prototype[Symbol.hasInstance].call(kindClass, value)
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[kind] === true
}
