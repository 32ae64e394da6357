/** Checks the target of a forwarded request before the proxy gets it. */
import { blockedError } from '../guard/guard.ts'
import { placeOfSent } from '../guard/place.ts'
import { checkTarget, type TargetCheckSettings } from '../net/target-check.ts'

/** Null if the URL is allowed, or a promise that resolves then. Throws or rejects otherwise. */
export function checkForward(check: TargetCheckSettings, target: string): Promise<void> | null {
  const place = placeOfSent(target)
  if (place === null) {
    throw blockedError({ rule: 'ambiguous-url', entry: null, hostname: null, address: null, port: null })
  }
  // The proxy gets the name and resolves it again, so the name has to pass as well as its addresses.
  const result = { error: null as Error | null, isOver: false }
  const checked = new Promise<void>((resolve, reject) => {
    checkTarget(check, place, 'name', (error) => {
      Object.assign(result, { error, isOver: true })
      if (error === null) resolve()
      else reject(error)
    })
  })
  if (!result.isOver) return checked
  checked.catch(() => {})
  if (result.error !== null) throw result.error
  return null
}
