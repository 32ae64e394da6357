/**
 * Values of callers as Web IDL converts them, with the words that users of these classes know. Shared by
 * `Headers`, `Request` and `Response`.
 */
import type { InspectOptions } from 'node:util'
import { loadUtil } from '../base/lazy-modules.ts'

/** `util.inspect.custom`, by the name it is documented under. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

const BEYOND_LATIN1 = /[^\0-\xff]/

/** A string whose characters are bytes. `where` and `what` are for the message. */
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

/** What half of a pair of surrogates became of becomes U+FFFD. */
export function wellFormed(text: string): string {
  // In every runtime we support, but not in the types of this target.
  return (text as string & { toWellFormed(): string }).toWellFormed()
}

/** A dictionary: nothing, or an object of any kind. */
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

/** As Web IDL has it: what a class of this kind shows is enumerable. */
export function showMembers(prototype: object, names: readonly string[]): void {
  for (const name of names) Object.defineProperty(prototype, name, { enumerable: true })
}

/** What `console.log` shows of an object of a class whose members are getters. */
export function showInspected(prototype: object, name: string, membersOf: (object: object) => object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: object, depth: number, options: InspectOptions): string {
      return `${name} ${loadUtil().inspect(membersOf(this), { ...options, depth })}`
    },
    writable: true,
    configurable: true,
  })
}

/** The class as `Object.prototype.toString` tells it. */
export function setTag(prototype: object, name: string): void {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
}
