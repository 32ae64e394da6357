/** Reads options as undici reads those of `cache` and `deduplicate`: "expected opts.name to be …, got …". */
import { ownMembers } from '../base/object/own-options.ts'

/** A copy without a prototype. */
export function ownOptions<T extends object>(given: T | undefined): T {
  if (given === undefined || typeName(given) === 'object')
    return Object.assign(Object.create(null), ownMembers(given)) as T
  throw new TypeError(`expected type of opts to be an Object, got ${typeName(given)}`)
}

export function expect(holds: boolean, option: string, what: string, got: string): asserts holds {
  if (!holds) throw new TypeError(`expected opts.${option} to be ${what}, got ${got}`)
}

export function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value
}
