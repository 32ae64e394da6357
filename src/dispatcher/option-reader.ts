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
