/**
 * `instanceof` by a symbol of the registry, not by prototype: an object of one copy of the library matches
 * the class of another. A process has several when the package is both imported and required, or bundled.
 */

/**
 * Own member of a class: its registry symbol. A user's subclass has none and gets the ordinary prototype
 * check. It is a member, so that one that stands in for the class (`late.ts`) has it, too.
 */
const KIND = Symbol('kind')

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
  Object.defineProperty(kindClass, KIND, { value: kind })
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
export function isKind(value: unknown): boolean {
  return typeof value === 'function' && Object.hasOwn(value, KIND)
}

export function isInstance(kindClass: object, value: unknown): boolean {
  if (!isKind(kindClass)) return Function.prototype[Symbol.hasInstance].call(kindClass, value)
  const kind = (kindClass as Record<symbol, symbol>)[KIND] as symbol
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[kind] === true
}
