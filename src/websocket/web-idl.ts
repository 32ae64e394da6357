/**
 * The parts of Web IDL that WebSocket and its events need: arguments to values, and the shape of an
 * interface.
 */
import { shownValue } from '../base/shown-value.ts'

/** The dictionary of all events. */
interface BaseInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
}

/** The first argument of an event's constructor. @throws {TypeError} */
export function requireType(type: unknown, count: number, where: string): string {
  if (count === 0) throw new TypeError(`${where}: 1 argument required, but 0 found.`)
  return toDomString(type, `${where}: type`)
}

/** @throws {TypeError} unless it is an object or left out. */
export function toDictionary<T extends object>(init: T | null | undefined, where: string): Partial<T> {
  if (init === undefined || init === null) return {}
  if (typeof init === 'object' || typeof init === 'function') return init
  throw new TypeError(`${where}: Expected ${String(init)} to be one of: Null, Undefined, Object.`)
}

/** The members that all events have, read before those of the event itself. */
export function toBaseInit({ bubbles, cancelable, composed }: BaseInit): Required<BaseInit> {
  return { bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: Boolean(composed) }
}

export function toDomString(value: unknown, what: string): string {
  if (typeof value === 'symbol') {
    throw new TypeError(`${what} is a symbol, which cannot be converted to a DOMString.`)
  }
  return String(value)
}

/** Without halves of surrogate pairs. */
export function toUsvString(value: unknown, what: string): string {
  const text = toDomString(value, what)
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text
}

/** Modulo 2 to the power of `bits`; anything but a finite number counts as 0. A BigInt and a symbol throw. */
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

/** A string made with `ToString`: a symbol throws. */
export function toText(value: unknown): string {
  return `${value as string}`
}

export function isIterableObject(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

/** Web IDL's `sequence`. A string is iterable, but no sequence. @throws {TypeError} */
export function toSequence(value: unknown, what: string): Iterable<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    throw new TypeError(`${what} (${shownValue(value)}) is not iterable.`)
  }
  const iterable = value as Partial<Iterable<unknown>>
  if (typeof iterable[Symbol.iterator] !== 'function') throw new TypeError(`${what} is not iterable.`)
  return iterable as Iterable<unknown>
}

export function illegalInvocation(): TypeError {
  return Object.assign(new TypeError('Illegal invocation'), { code: 'ERR_INVALID_THIS' })
}

/** Makes the members of an interface enumerable, keeps its name, and gives its objects a tag. */
export function defineInterface(declared: { name: string; prototype: object }, name: string): void {
  const { prototype } = declared
  for (const member of Object.getOwnPropertyNames(prototype)) {
    if (member !== 'constructor') Object.defineProperty(prototype, member, { enumerable: true })
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true })
  // A bundler may rename the class.
  Object.defineProperty(declared, 'name', { value: name, configurable: true })
}
