/**
 * Reads Cache-Control (RFC 9111 §5.2) of requests and responses. A shared cache must not serve one user's
 * page to another because a header was sloppy: a directive that restricts counts however badly it is written,
 * one that permits only if it is well-formed each time it comes, and an unreadable lifetime counts as none.
 */
import { trimmed } from './fields.ts'

/**
 * The directives of a message; numbers are seconds. A list names the fields that a directive is limited to.
 */
export interface CacheControlDirectives {
  /** For how long a response is fresh; in a request, the greatest age that is accepted. */
  'max-age'?: number
  /** Replaces `max-age` in shared caches. */
  's-maxage'?: number
  /** For how long after its freshness has ended a response is accepted. */
  'max-stale'?: number
  /** For how long a response must still be fresh. */
  'min-fresh'?: number
  /** For how long a stale response may be used while it is revalidated. */
  'stale-while-revalidate'?: number
  /** For how long a stale response may be used in place of an error. */
  'stale-if-error'?: number
  /** The response, or these fields of it, must not be used without revalidation. */
  'no-cache'?: true | string[]
  /** The response, or these fields of it, are for one user: a shared cache must not store them. */
  private?: true | string[]
  /** Any cache may store the response, even one to a request with credentials. */
  public?: true
  /** Nothing of the message may be stored. */
  'no-store'?: true
  /** Intermediaries must not change the content. */
  'no-transform'?: true
  /** A stale response must not be used without revalidation. */
  'must-revalidate'?: true
  /** As `must-revalidate`, for shared caches only. */
  'proxy-revalidate'?: true
  /** Only a cache that knows the rules of the status may store the response. */
  'must-understand'?: true
  /** The response does not change while it is fresh. */
  immutable?: true
  /** Only a stored response is wanted. */
  'only-if-cached'?: true
}

/** Longest lifetime (RFC 9111 §1.2.2). */
export const MAX_SECONDS: number = 2 ** 31 - 1

const OF_SECONDS = [
  'max-age',
  's-maxage',
  'max-stale',
  'min-fresh',
  'stale-while-revalidate',
  'stale-if-error',
] as const
type Duration = (typeof OF_SECONDS)[number]
type Qualified = 'no-cache' | 'private'
type Flag = Exclude<keyof CacheControlDirectives, Qualified | Duration>

/** Directives that are a number of seconds. */
export const DURATIONS: ReadonlySet<string> = new Set(OF_SECONDS)

/** Directives without an argument. */
export const FLAGS: ReadonlySet<string> = new Set<Flag>([
  'public',
  'no-store',
  'no-transform',
  'must-revalidate',
  'proxy-revalidate',
  'must-understand',
  'immutable',
  'only-if-cached',
])

const LEADING_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+/
const RESTRICTING = /(?<![\w-])(no-store|no-cache|private)(?![\w-])/gi
const DIGITS = /^[0-9]+$/

/** Directives that permit something. They take no argument: with one, they are something else. */
const PERMITTING: ReadonlySet<string> = new Set<Flag>(['public', 'must-understand', 'immutable'])

/** What a field says. */
export interface CacheControl {
  readonly directives: CacheControlDirectives
  /** A member has no name, or a quote is never closed: nobody knows what the rest was meant to forbid. */
  readonly isMalformed: boolean
  /** It lets a shared cache store the response to a request with credentials (RFC 9111 §3.5). */
  readonly isForAllUsers: boolean
}

/** Several lines are one list. */
export function readCacheControl(value: string | readonly string[] | undefined): CacheControl {
  const text = typeof value === 'string' ? value : (value ?? []).join(',')
  const directives: CacheControlDirectives = {}
  /** Names that came in a form that they do not have. */
  const denied = new Set<string>()
  const { members, isClosed } = splitList(text)
  let isMalformed = !isClosed
  for (const member of members) if (!addMember(directives, member, denied)) isMalformed = true
  for (const name of denied) if (PERMITTING.has(name)) delete directives[name as Flag]
  const permits = (name: 'public' | 's-maxage' | 'must-revalidate'): boolean =>
    directives[name] !== undefined && !denied.has(name)
  const isForAllUsers = permits('public') || permits('s-maxage') || permits('must-revalidate')
  // The response holds something of the credentials, and says so.
  const isOfOne = [directives.private, directives['no-cache']].some(
    (names) => Array.isArray(names) && names.includes('authorization'),
  )
  return { directives, isMalformed, isForAllUsers: isForAllUsers && !isOfOne }
}

/** Commas within quotes do not count, unless the quote is not closed: a `no-store` after it would be lost. */
export function splitList(text: string): { members: string[]; isClosed: boolean } {
  const members: string[] = []
  let start = 0
  // One search that fails is enough: 64 KiB of quotes must not cost a search each.
  let closes = true
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === 0x22 && closes) {
      const end = closingQuote(text, i)
      closes = end !== -1
      if (closes) i = end
    } else if (character === 0x2c) {
      members.push(trimmed(text.slice(start, i)))
      start = i + 1
    }
  }
  members.push(trimmed(text.slice(start)))
  return { members: members.filter((member) => member !== ''), isClosed: closes }
}

function closingQuote(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === 0x5c) i++
    else if (character === 0x22) return i
  }
  return -1
}

/** False for a member whose name is no token. */
function addMember(directives: CacheControlDirectives, member: string, denied: Set<string>): boolean {
  const token = LEADING_TOKEN.exec(member)?.[0] ?? ''
  const name = token.toLowerCase()
  const rest = member.slice(token.length)
  if (token === '' || (rest !== '' && rest.charCodeAt(0) !== 0x3d)) {
    addMalformed(directives, name, member)
    return false
  }
  const argument = rest === '' ? null : unquoted(rest.slice(1))
  const time = seconds(argument)
  switch (name) {
    case 'max-age':
    case 's-maxage':
    case 'stale-while-revalidate':
    case 'stale-if-error':
      if (time === null) denied.add(name)
      smallest(directives, name, time ?? 0)
      break
    case 'min-fresh':
      if (time !== null) directives[name] = Math.max(time, directives[name] ?? 0)
      break
    case 'max-stale':
      if (time !== null || argument === null) smallest(directives, name, time ?? Number.POSITIVE_INFINITY)
      break
    case 'no-cache':
    case 'private':
      qualify(directives, name, argument)
      break
    default:
      if (argument !== null) denied.add(name)
      if (FLAGS.has(name)) directives[name as Flag] = true
  }
  // `max-age=60 no-store` lacks a comma.
  if (argument !== null && name !== 'no-cache' && name !== 'private' && !rest.startsWith('="')) {
    restrict(directives, argument)
  }
  return true
}

/** `max-age = 60`, `no-store; x`, `"no-store"`. */
function addMalformed(directives: CacheControlDirectives, name: string, member: string): void {
  if (name === 'max-age' || name === 's-maxage') directives[name] = 0
  else if (name === 'must-revalidate' || name === 'proxy-revalidate') directives[name] = true
  restrict(directives, member)
}

function restrict(directives: CacheControlDirectives, text: string): void {
  for (const [word] of text.matchAll(RESTRICTING)) {
    directives[word.toLowerCase() as 'no-store' | 'no-cache' | 'private'] = true
  }
}

function smallest(directives: CacheControlDirectives, name: Duration, value: number): void {
  directives[name] = Math.min(value, directives[name] ?? value)
}

/**
 * Limited to the named fields, unless the list is empty or malformed, or the directive also came without one.
 */
function qualify(directives: CacheControlDirectives, name: Qualified, argument: string | null): void {
  const names = argument === null ? [] : argument.split(',').map((part) => trimmed(part).toLowerCase())
  const known = directives[name] ?? []
  const isList = names.length > 0 && names.every((part) => LEADING_TOKEN.exec(part)?.[0] === part)
  directives[name] = known === true || !isList ? true : [...known, ...names]
}

function seconds(argument: string | null): number | null {
  if (argument === null || !DIGITS.test(argument)) return null
  return Math.min(Number(argument), MAX_SECONDS)
}

/** A quote that is not closed stays, and makes the argument unreadable. */
function unquoted(argument: string): string {
  if (argument.length < 2 || !argument.startsWith('"') || !argument.endsWith('"')) return argument
  return argument.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}
