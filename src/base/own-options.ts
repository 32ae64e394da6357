/**
 * Reads options past a polluted `Object.prototype`: a bug elsewhere in the process
 * that lets an attacker write there must not add a header, a body or a trusted certificate to requests
 * (axios CVE-2026-42264 and its relatives). Looking for properties there costs some nanoseconds where there are none:
 * of those that are enumerable, which is what an assignment makes, all are found, of the others those that are names of options.
 */
import { addedNames, hasHiddenOption } from './hidden-pollution.ts'

function isPolluted(): boolean {
  for (const _ in Object.prototype) return true
  return hasHiddenOption()
}

/**
 * Returns the options unchanged; if `Object.prototype` is polluted, a copy without the properties inherited
 * from it. Anything but an object is returned for later checks to refuse.
 */
export function withoutPollution<T>(options: T): T {
  return isPolluted() ? ownReading(options) : options
}

function ownReading<T>(options: T): T {
  if (typeof options !== 'object' || options === null) return options
  const reading = Object.create(null) as Record<PropertyKey, unknown>
  let owner: object | null = options
  while (owner !== null && owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      if (!(name in reading)) reading[name] = Reflect.get(options, name)
    }
    owner = Reflect.getPrototypeOf(owner)
  }
  return reading as T
}

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * For options that the runtime reads, or copies onto its own ordinary objects: covers the properties that it
 * would find on their prototype. Names in `withDefault` have a default there, which an `undefined` would
 * remove.
 */
export function coverPollution<T extends object>(options: T, withDefault: ReadonlySet<string> = NO_NAMES): T {
  if (!isPolluted()) return options
  for (const name of addedNames()) {
    if (Object.hasOwn(options, name) || withDefault.has(name)) continue
    Object.defineProperty(options, name, { value: undefined, writable: true, enumerable: true })
  }
  return options
}
