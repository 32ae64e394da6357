/** A caller's value, as error messages about conversions show it. */
import { loadUtil } from '../node/lazy-modules.ts'

/** A string is in quotes, so that an empty one can be seen. */
export function shownValue(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : loadUtil().inspect(value)
}
