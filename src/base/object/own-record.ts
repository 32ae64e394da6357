/**
 * Plain objects as tables of names that others have chosen. An assignment to `__proto__` would be lost, one
 * to `toString` throws where a program has frozen the prototypes, and `constructor` would be found where
 * nothing was stored.
 */

export function setOwn<T>(table: { [name: string]: T | undefined }, name: string, value: T): void {
  if (table[name] === undefined || Object.hasOwn(table, name)) table[name] = value
  else Object.defineProperty(table, name, { value, writable: true, enumerable: true, configurable: true })
}

export function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
