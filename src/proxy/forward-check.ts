/** Checks where a forwarded request leads to before the proxy gets it. */
import { blockedError } from '../guard/guard.ts'
import { placeOfSent } from '../guard/place.ts'
import { checkTarget, type TargetCheckSettings } from '../net/target-check.ts'

/** Null if it may go, or a promise of that. Throws, or rejects, with the refusal. `target` is the URL as the proxy gets it. */
export function checkForward(check: TargetCheckSettings, target: string): Promise<void> | null {
  const place = placeOfSent(target)
  if (place === null) {
    throw blockedError({ rule: 'ambiguous-url', entry: null, hostname: null, address: null, port: null })
  }
  // The name is what is sent, and the proxy resolves it again, so that it has to pass as well.
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
