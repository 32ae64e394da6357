/**
 * Converts values from callers as Web IDL does, with the error messages that users of these classes know. Shared by
 * `Headers`, `Request` and `Response`.
 */
import type { InspectOptions } from 'node:util'
import { loadUtil } from '../base/lazy-modules.ts'

/** `util.inspect.custom`, by its documented name. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

const BEYOND_LATIN1 = /[^\0-\xff]/

/** A string in which every character is one byte. `where` and `what` are for the error message. */
export function toByteString(value: unknown, where: string, what: string): string {
  const text = typeof value === 'string' ? value : toText(value, where, what, 'ByteString')
  const index = text.search(BEYOND_LATIN1)
  if (index === -1) return text
  throw new TypeError(
    `Cannot convert argument to a ByteString because the character at index ${index} has a value of ${text.charCodeAt(index)} which is greater than 255.`,
  )
}

/** Any string. */
export function toText(value: unknown, where: string, what: string, type = 'DOMString'): string {
  if (typeof value === 'string') return value
  if (typeof value === 'symbol') {
    throw new TypeError(`${where}: ${what} is a symbol, which cannot be converted to a ${type}.`)
  }
  return String(value)
}

/** Replaces each lone surrogate with U+FFFD. */
export function wellFormed(text: string): string {
  // Every supported runtime has it, but the types of this target do not.
  return (text as string & { toWellFormed(): string }).toWellFormed()
}

/** A dictionary: null or undefined, or an object of any kind. */
export function toDictionary<T extends object>(value: T | null | undefined, where: string): T | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'object' || typeof value === 'function') return value
  const shown = typeof value === 'symbol' ? String(value) : `${value}`
  throw new TypeError(`${where}: Expected ${shown} to be one of: Null, Undefined, Object.`)
}

export function toEnum<T extends string>(value: unknown, accepted: readonly T[], where: string): T {
  const text = toText(value, where, 'value')
  if ((accepted as readonly string[]).includes(text)) return text as T
  throw new TypeError(`${where}: ${text} is not an accepted type. Expected one of ${accepted.join(', ')}.`)
}

export function requireArguments(found: number, needed: number, where: string): void {
  if (found >= needed) return
  const some = needed === 1 ? '1 argument' : `${needed} arguments`
  throw new TypeError(`${where}: ${some} required, but ${found} found.`)
}

export function illegalInvocation(): TypeError {
  return new TypeError('Illegal invocation')
}

/** Makes members enumerable, as Web IDL requires. */
export function showMembers(prototype: object, names: readonly string[]): void {
  for (const name of names) Object.defineProperty(prototype, name, { enumerable: true })
}

/** Sets the output of `console.log` for a class whose members are getters. */
export function showInspected(prototype: object, name: string, membersOf: (object: object) => object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: object, depth: number, options: InspectOptions): string {
      return `${name} ${loadUtil().inspect(membersOf(this), { ...options, depth })}`
    },
    writable: true,
    configurable: true,
  })
}

/** Sets the class name that `Object.prototype.toString` shows. */
export function setTag(prototype: object, name: string): void {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
}
