/**
 * What a response says about the quota of its client: `RateLimit` and `RateLimit-Policy` (the IETF draft on
 * RateLimit header fields), and the fields with `-remaining` and `-reset` that servers sent before it.
 */
import type { HeaderObject } from '../protocol/header-block.ts'
import { splitList } from '../relay/cache-control.ts'
import { fieldText, singleField } from '../relay/fields.ts'
import { BARE_ITEM, KEY, PARAMETERS } from '../relay/structured-fields.ts'

export interface Quota {
  /** How many requests the server still accepts; null if it does not say. */
  readonly remaining: number | null
  /** Milliseconds until it accepts more. May be Infinity. */
  readonly reset: number
}

type Members = ReadonlyMap<string, ReadonlyMap<string, string>>

const MEMBER = new RegExp(`^(${BARE_ITEM})(${PARAMETERS})$`)
const PARAMETER = new RegExp(`; *(${KEY})(?:=(${BARE_ITEM}))?`, 'g')
const PREFIXES = ['x-ratelimit-', 'ratelimit-']

/** Seconds and milliseconds from which a number is a date since 1970: servers send both. */
const FIRST_SECOND = 1e9
const FIRST_MILLISECOND = 1e12

/** Of several quotas, that of which least is left; null if there is none that can be read. */
export function quotaOf(headers: HeaderObject): Quota | null {
  const limits = membersOf(headers, 'ratelimit')
  if (limits !== null) {
    const policies = membersOf(headers, 'ratelimit-policy')
    const quotas = [...limits].flatMap(([name, limit]) => quotaIn(limit, policies?.get(name)) ?? [])
    const [least] = quotas.sort((a, b) => a.remaining! - b.remaining! || b.reset - a.reset)
    if (least !== undefined) return least
  }
  for (const prefix of PREFIXES) {
    const reset = numberOf(singleField(headers, `${prefix}reset`))
    const remaining = numberOf(singleField(headers, `${prefix}remaining`))
    if (reset !== null) return { remaining, reset: untilReset(reset) }
  }
  return null
}

/** Without a time, the window of its policy bounds it. Quotas of other units than requests do not count. */
function quotaIn(limit: ReadonlyMap<string, string>, policy?: ReadonlyMap<string, string>): Quota | null {
  const remaining = numberOf(limit.get('r'))
  const seconds = numberOf(limit.get('t') ?? policy?.get('w'))
  const unit = policy?.get('qu') ?? '"requests"'
  return remaining === null || seconds === null || unit !== '"requests"'
    ? null
    : { remaining, reset: seconds * 1000 }
}

/** The parameters of each member of a List; null for a field that is absent or invalid. */
function membersOf(headers: HeaderObject, name: string): Members | null {
  const text = fieldText(headers, name)
  if (text === null) return null
  const members = new Map<string, ReadonlyMap<string, string>>()
  for (const member of splitList(text).members) {
    const match = MEMBER.exec(member)
    if (match === null) return null
    const parameters = match[2]!.matchAll(PARAMETER)
    members.set(match[1]!, new Map([...parameters].map(([, key, value]) => [key!, value ?? '?1'])))
  }
  return members
}

function numberOf(text: string | null | undefined): number | null {
  return text && /^ *[0-9]+(?:\.[0-9]+)? *$/.test(text) ? Number(text) : null
}

function untilReset(value: number): number {
  if (value < FIRST_SECOND) return value * 1000
  return Math.max(0, (value < FIRST_MILLISECOND ? value * 1000 : value) - Date.now())
}
