/**
 * Reads options by name and checks them. `null` is the same as not given. Only own properties count, so that a
 * polluted Object.prototype cannot configure a client.
 */
import { InvalidArgumentError } from '../errors.ts'

export type Check = (value: unknown) => boolean

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
export const isString: Check = (value) => typeof value === 'string'
export const isBoolean: Check = (value) => typeof value === 'boolean'

export class OptionReader<N extends string = string> {
  readonly #options: Readonly<Record<string, unknown>>

  constructor(options: object) {
    this.#options = Object.assign(Object.create(null), options) as Record<string, unknown>
  }

  raw(name: string): unknown {
    return this.#options[name]
  }

  read<T>(name: N, fallback: T, check: Check, message: string): T {
    const value = this.#options[name]
    if (value === undefined || value === null) return fallback
    if (!check(value)) throw new InvalidArgumentError(message)
    return value as T
  }
}

/** Also takes other forms of a value that can mean only one thing. */
export class LooseReader<N extends string = string> extends OptionReader<N> {
  override read<T>(name: N, fallback: T, check: Check, message: string): T {
    const value = this.raw(name)
    if (value === undefined || value === null || check(value)) return (value ?? fallback) as T
    const other = FORMS.map((form) => form(value)).find((one) => one !== value && check(one))
    if (other === undefined) throw new InvalidArgumentError(message)
    return other as T
  }
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
