/**
 * Options of callers as tables: what each is if it is not given, its check, and the message for a value that fails it. `null` is
 * the same as not given. Only own properties count, so that a polluted `Object.prototype` cannot configure anything.
 */
import { InvalidArgumentError } from './errors.ts'

export type Check = (value: unknown) => boolean

/** One row. Without a message: `invalid <name>`. */
export interface Option<T> {
  readonly fallback: T
  readonly check: Check
  readonly message?: string | undefined
}

/** In the order of the checks: of several wrong options, the first is reported. */
export type OptionTable<T> = { readonly [N in keyof T]: Option<T[N]> }

export function option<T>(fallback: T, check: Check, message?: string): Option<T> {
  return { fallback, check, message }
}

export const integerFrom =
  (least: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least
export const finiteFrom =
  (least: number): Check =>
  (value) =>
    Number.isFinite(value) && (value as number) >= least
export const finiteAbove =
  (bound: number): Check =>
  (value) =>
    Number.isFinite(value) && (value as number) > bound
export const listOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem)
export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
export const isString: Check = (value) => typeof value === 'string'
export const isBoolean: Check = (value) => typeof value === 'boolean'
export const isFunction: Check = (value) => typeof value === 'function'
export const isObject: Check = (value) => typeof value === 'object'
export const isAnything: Check = () => true

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

export function readOptions<T>(table: OptionTable<T>, given: object | null | undefined): T {
  return readAll(table, given, readOption)
}

/** Also takes other forms of a value that can mean only one thing. */
export function readLoosely<T>(table: OptionTable<T>, given: object | null | undefined): T {
  return readAll(table, given, readLooseOption)
}

function readAll<T>(table: OptionTable<T>, given: object | null | undefined, read: typeof readOption): T {
  const own = ownOptions(given) as Record<string, unknown>
  const values = Object.create(null) as Record<string, unknown>
  for (const [name, row] of Object.entries<Option<unknown>>(table)) values[name] = read(name, own[name], row)
  return { ...values } as T
}

/** One value. */
export function readOption<T>(name: string, value: unknown, { fallback, check, message }: Option<T>): T {
  if (value === undefined || value === null) return fallback
  if (!check(value)) throw new InvalidArgumentError(message ?? `invalid ${name}`)
  return value as T
}

export function readLooseOption<T>(name: string, value: unknown, row: Option<T>): T {
  if (value === undefined || value === null || row.check(value)) return (value ?? row.fallback) as T
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
