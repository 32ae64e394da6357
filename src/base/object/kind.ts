/**
 * `instanceof` by a symbol of the registry, not by prototype: an object of one copy of the library matches
 * the class of another. A process has several when the package is both imported and required, or bundled.
 */

/** Class → its registry symbol. A user's subclass has no entry and gets the ordinary prototype check. */
const kinds = new WeakMap<object, symbol>()

/**
 * Registers a class under the key of its symbol. Its `name` is set here as well: bundlers and minifiers
 * rename classes, and consoles, test runners and loggers print `constructor.name`.
 */
export function defineKind(
  kindClass: { prototype: object },
  key: string,
  className: string = key.slice(key.lastIndexOf('.') + 1),
): void {
  const kind = Symbol.for(key)
  kinds.set(kindClass, kind)
  Object.defineProperty(kindClass, 'name', { value: className, configurable: true })
  Object.defineProperty(kindClass.prototype, kind, { value: true })
  Object.defineProperty(kindClass, Symbol.hasInstance, {
    value: hasInstance,
    writable: true,
    configurable: true,
  })
}

/** Of a kind, and of its subclasses, which inherit it and get the ordinary check. */
function hasInstance(this: object, value: unknown): boolean {
  return isInstance(this, value)
}

/** Whether the class is one of this copy of the library. */
export function isKind(value: object): boolean {
  return kinds.has(value)
}

export function isInstance(kindClass: object, value: unknown): boolean {
  const kind = kinds.get(kindClass)
  if (kind === undefined) return Function.prototype[Symbol.hasInstance].call(kindClass, value)
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[kind] === true
}
