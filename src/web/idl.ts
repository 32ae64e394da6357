/**
 * Web IDL: converts the arguments of the web classes, with undici's error messages. `where` and `what` name
 * the call and its argument in those messages.
 */

import type { AbortSource } from '../base/abort/signal.ts'
import { shownValue } from '../base/text/shown-value.ts'

const BEYOND_LATIN1 = /[^\0-\xff]/

/** The language's `ToString`: throws the engine's error for a symbol. */
export function asString(value: unknown): string {
  return `${value as string}`
}

/** `DOMString`. */
export function toText(value: unknown, where: string, what: string, type = 'DOMString'): string {
  if (typeof value === 'string') return value
  if (typeof value === 'symbol') {
    throw new TypeError(`${where}: ${what} is a symbol, which cannot be converted to a ${type}.`)
  }
  return String(value)
}

/** `ByteString`: every character is one byte. */
export function toByteString(value: unknown, where: string, what: string): string {
  const text = toText(value, where, what, 'ByteString')
  const index = text.search(BEYOND_LATIN1)
  if (index === -1) return text
  throw new TypeError(
    `Cannot convert argument to a ByteString because the character at index ${index} has a value of ${text.charCodeAt(index)} which is greater than 255.`,
  )
}

/** `USVString`: each lone surrogate becomes U+FFFD. */
export function wellFormed(text: string): string {
  // Every supported runtime has it, but the types of this target do not.
  return (text as string & { toWellFormed(): string }).toWellFormed()
}

/** `unsigned short` or `long`: modulo 2 to the power of `bits`. A BigInt and a symbol throw. */
export function toUnsigned(value: unknown, bits: 16 | 32): number {
  const number = +(value as number)
  if (!Number.isFinite(number)) return 0
  const size = 2 ** bits
  return ((Math.trunc(number) % size) + size) % size
}

/** `[Clamp] unsigned short`. */
export function clampToUint16(value: unknown): number {
  const number = Number(value)
  if (Number.isNaN(number)) return 0
  return Math.round(Math.min(Math.max(number, 0), 0xffff))
}

/** A dictionary: null, undefined, or any object. */
export function toDictionary<T extends object>(value: T | null | undefined, where: string): T | null {
  if (value === undefined || value === null) return null
  if (isObject(value)) return value
  throw new TypeError(`${where}: Expected ${String(value)} to be one of: Null, Undefined, Object.`)
}

export function toEnum<T extends string>(value: unknown, accepted: readonly T[], where: string): T {
  const text = toText(value, where, 'value')
  if ((accepted as readonly string[]).includes(text)) return text as T
  throw new TypeError(`${where}: ${text} is not an accepted type. Expected one of ${accepted.join(', ')}.`)
}

/** A `sequence`. A string is iterable, but not a sequence. */
export function toSequence(value: unknown, what: string): Iterable<unknown> {
  if (!isObject(value)) throw new TypeError(`${what} (${shownValue(value)}) is not iterable.`)
  if (!isIterableObject(value)) throw new TypeError(`${what} is not iterable.`)
  return value
}

/** Null for null and undefined. A signal is recognised by its members: there are several implementations. */
export function toSignal(signal: unknown, where: string): AbortSource | null {
  if (signal === undefined || signal === null) return null
  const candidate = signal as Partial<AbortSignal>
  if (typeof candidate.aborted === 'boolean' && typeof candidate.addEventListener === 'function') {
    return signal as AbortSource
  }
  throw new TypeError(`${where}: Expected signal ("${shownValue(signal)}") to be an instance of AbortSignal.`)
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

export function isIterableObject(value: unknown): value is Iterable<unknown> {
  return isObject(value) && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
}

/** Web IDL counts arguments, even if they are undefined. */
export function requireArguments(found: number, needed: number, where: string): void {
  if (found >= needed) return
  const some = needed === 1 ? '1 argument' : `${needed} arguments`
  throw new TypeError(`${where}: ${some} required, but ${found === 0 ? '' : 'only '}${found} found.`)
}

/** A member was called on an object of another class. */
export function illegalInvocation(): TypeError {
  return Object.assign(new TypeError('Illegal invocation'), { code: 'ERR_INVALID_THIS' })
}
