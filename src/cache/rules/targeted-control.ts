/**
 * Targeted cache control (RFC 9213): a field such as CDN-Cache-Control replaces Cache-Control and Expires for
 * the caches that it names. It is a Dictionary of Structured Fields (RFC 9651 §3.2), and counts only if it is
 * a valid one.
 */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { type CacheControl, readCacheControl, splitList } from '../../relay/cache-control.ts'
import { fieldLines, fieldText, trimmed } from '../../relay/fields.ts'
import { BARE_ITEM, KEY, PARAMETERS } from '../../relay/structured-fields.ts'
import type { ControlFacts } from './freshness.ts'

const MEMBER = new RegExp(`^(${KEY})(?:=(${BARE_ITEM}))?${PARAMETERS}$`)

const SECONDS: ReadonlySet<string> = new Set(
  'max-age s-maxage stale-while-revalidate stale-if-error'.split(' '),
)

/** What a response says about storing it: in the first of `targets` that is valid, or in Cache-Control. */
export function controlOf(headers: HeaderObject, targets: readonly string[]): ControlFacts {
  let targeted: CacheControl | null = null
  for (const target of targets) targeted ??= readDictionary(fieldText(headers, target))
  const { directives, isMalformed, isForAllUsers } =
    targeted ?? readCacheControl(fieldLines(headers, 'cache-control'))
  return { control: directives, isTargeted: targeted !== null, isMalformed, isForAllUsers }
}

/** Null for a field that is absent, empty or invalid. */
function readDictionary(text: string | null): CacheControl | null {
  if (text === null || trimmed(text) === '') return null
  const directives: Record<string, true | number> = {}
  for (const member of splitList(text).members) {
    const match = MEMBER.exec(member)
    if (match === null) return null
    const [, name, item] = match
    if (SECONDS.has(name!)) {
      // A value of another type is ignored (RFC 9213 §2.1).
      if (item !== undefined && /^[0-9]+$/.test(item)) directives[name!] = Number(item)
    } else if (item === undefined || item === '?1') {
      directives[name!] = true
    } else {
      delete directives[name!]
    }
  }
  // Read by the one parser, so that limits and names are the same.
  return readCacheControl(
    Object.entries(directives).map(([name, value]) => (value === true ? name : `${name}=${value}`)),
  )
}
