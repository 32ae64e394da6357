/**
 * Options of callers as tables: what each is if it is not given, its check, and the message for a value that
 * fails it. `null` is the same as not given. Only own properties count, so that a polluted `Object.prototype`
 * cannot configure anything.
 */
import { ownMembers } from './base/object/own-options.ts'
import { InvalidArgumentError } from './errors.ts'
import type { OptionNames } from './option-names.ts'

export type Check = (value: unknown) => boolean

/** One row. Without a message: `invalid <name>`. `convert` gets a value that has passed the check. */
export interface Option<T> {
  readonly fallback: T
  readonly check: Check
  readonly message: string | undefined
  readonly convert: ((value: never, name: string) => T) | undefined
}

/** Options that are all given. */
export type Filled<T> = { readonly [N in keyof T]-?: NonNullable<T[N]> }

/** In the order of the checks: of several wrong options, the first is reported. */
export type OptionTable<T> = { readonly [N in keyof T]: Option<T[N]> }

export function option<T>(
  fallback: T,
  check: Check,
  message?: string,
  convert?: (value: never, name: string) => T,
): Option<T> {
  return { fallback, check, message, convert }
}

/** A list of the caller, as a set. */
export function setOption<T>(
  fallback: readonly T[],
  isItem: Check,
  message?: string,
): Option<ReadonlySet<T>> {
  return option<ReadonlySet<T>>(new Set(fallback), listOf(isItem), message, (list: T[]) => new Set(list))
}

export function integerFrom(least: number): Check {
  return (value) => Number.isInteger(value) && (value as number) >= least
}

export function finiteFrom(least: number): Check {
  return (value) => Number.isFinite(value) && (value as number) >= least
}

export function finiteAbove(bound: number): Check {
  return (value) => Number.isFinite(value) && (value as number) > bound
}

export function listOf(isItem: Check): Check {
  return (value) => Array.isArray(value) && value.every(isItem)
}

export function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value)
}

export const isString: Check = (value) => typeof value === 'string'
export const isNumber: Check = (value) => typeof value === 'number'
export const isBoolean: Check = (value) => typeof value === 'boolean'
export const isFunction: Check = (value) => typeof value === 'function'
export const isObject: Check = (value) => typeof value === 'object'
export const isAnything: Check = () => true

/** 0 stands for any number. */
export const orAny = (value: number): number => value || Number.POSITIVE_INFINITY

/** A copy that has no prototype; empty for null and undefined. */
export function ownOptions<T extends object>(
  given: T | null | undefined,
  message = 'options must be an object',
): Partial<T> {
  if (given !== null && given !== undefined && typeof given !== 'object') {
    throw new InvalidArgumentError(message)
  }
  return Object.assign(Object.create(null), given) as Partial<T>
}

/** `names`, here and below: for the warning about options that nobody knows. */
export function readOptions<T>(
  table: OptionTable<T>,
  given: object | null | undefined,
  names?: OptionNames,
): T {
  return readAll(table, ownOptions(given), readOption, names)
}

/** Also takes other forms of a value that can mean only one thing. What is not given is that of `base`. */
export function readLoosely<T>(
  table: OptionTable<T>,
  given: object | null | undefined,
  names?: OptionNames,
  base?: T,
): T {
  return readAll(table, ownOptions(given), readLooseOption, names, base)
}

/** As undici reads the options of `cache` and `deduplicate`: null is a value, and a wrong one a TypeError. */
export function readExpected<T>(table: OptionTable<T>, given: object | undefined, names?: OptionNames): T {
  if (given !== undefined && typeName(given) !== 'object') {
    throw new TypeError(`expected type of opts to be an Object, got ${typeName(given)}`)
  }
  return readAll(table, ownOptions(ownMembers(given)), readExpectedOption, names)
}

export function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value
}

function readAll<T>(
  table: OptionTable<T>,
  given: object,
  read: typeof readOption,
  names?: OptionNames,
  base?: T,
): T {
  names?.check(given)
  const values = Object.create(null) as Record<string, unknown>
  for (const [name, row] of Object.entries<Option<unknown>>(table)) {
    const used = base ? { ...row, fallback: base[name as keyof T] } : row
    values[name] = read(name, (given as Record<string, unknown>)[name], used)
  }
  return { ...values } as T
}

/** One value. */
export function readOption<T>(name: string, value: unknown, row: Option<T>): T {
  if (value === undefined || value === null) return row.fallback
  if (!row.check(value)) throw new InvalidArgumentError(row.message ?? `invalid ${name}`)
  return row.convert === undefined ? (value as T) : row.convert(value as never, name)
}

function readExpectedOption<T>(name: string, value: unknown, row: Option<T>): T {
  expectOption(value === undefined || row.check(value), name, row.message!, typeof value)
  // Null has passed the check.
  return value === null ? (value as T) : readOption(name, value, row)
}

export function expectOption(holds: boolean, name: string, what: string, got: string): asserts holds {
  if (!holds) throw new TypeError(`expected opts.${name} to be ${what}, got ${got}`)
}

function readLooseOption<T>(name: string, value: unknown, row: Option<T>): T {
  if (value === undefined || value === null || row.check(value)) return readOption(name, value, row)
  const other = FORMS.map((form) => form(value)).find((one) => one !== value && row.check(one))
  return readOption(name, other ?? value, row)
}

/** Each returns what it does not concern as it is. */
const FORMS: readonly ((value: unknown) => unknown)[] = [
  // 0 and 1 for false and true.
  (value) => (value === 0 || value === 1 ? value === 1 : value),
  numberOf,
  listFrom,
  // A list of statuses in digits.
  (value) => {
    const list = listFrom(value)
    return Array.isArray(list) ? list.map(numberOf) : value
  },
]

/** A number in digits. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
}

/** A Set for a list. */
function listFrom(value: unknown): unknown {
  return value instanceof Set ? [...value] : value
}
