/**
 * Reads Cache-Control (RFC 9111 §5.2) of requests and responses. A shared cache must not serve one user's page to
 * another because a header was sloppy: a directive that restricts counts however badly it is written, and a lifetime
 * that cannot be read is none.
 */

/** The directives of a message; numbers are seconds. A list names the fields that a directive is limited to. */
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

type Flag =
  | 'public'
  | 'no-store'
  | 'no-transform'
  | 'must-revalidate'
  | 'proxy-revalidate'
  | 'must-understand'
  | 'immutable'
  | 'only-if-cached'

/** Longest lifetime (RFC 9111 §1.2.2). */
export const MAX_SECONDS: number = 2 ** 31 - 1

const FLAGS: ReadonlySet<string> = new Set<Flag>([
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

/** Several lines are one list. */
export function parseCacheControl(value: string | readonly string[] | undefined): CacheControlDirectives {
  const directives: CacheControlDirectives = {}
  if (value === undefined) return directives
  const text = typeof value === 'string' ? value : value.join(',')
  for (const member of listMembers(text)) addMember(directives, member)
  return directives
}

/**
 * The members between commas. Commas within quotes do not count, unless the quote is never closed: then a `no-store`
 * after it would be lost.
 */
export function listMembers(text: string): string[] {
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
      members.push(text.slice(start, i).trim())
      start = i + 1
    }
  }
  members.push(text.slice(start).trim())
  return members.filter((member) => member !== '')
}

function closingQuote(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === 0x5c) i++
    else if (character === 0x22) return i
  }
  return -1
}

function addMember(directives: CacheControlDirectives, member: string): void {
  const token = LEADING_TOKEN.exec(member)?.[0] ?? ''
  const name = token.toLowerCase()
  const rest = member.slice(token.length)
  if (token === '' || (rest !== '' && rest.charCodeAt(0) !== 0x3d)) {
    addMalformed(directives, name, member)
    return
  }
  const argument = rest === '' ? null : unquoted(rest.slice(1))
  switch (name) {
    case 'max-age':
    case 's-maxage':
      smallest(directives, name, seconds(argument) ?? 0)
      break
    case 'stale-while-revalidate':
    case 'stale-if-error':
      smallest(directives, name, seconds(argument) ?? 0)
      break
    case 'min-fresh': {
      const least = seconds(argument)
      if (least !== null) directives[name] = Math.max(least, directives[name] ?? 0)
      break
    }
    case 'max-stale': {
      const most = argument === null ? Number.POSITIVE_INFINITY : seconds(argument)
      if (most !== null) smallest(directives, name, most)
      break
    }
    case 'no-cache':
    case 'private':
      qualify(directives, name, argument)
      break
    default:
      if (FLAGS.has(name)) directives[name as Flag] = true
  }
  // `max-age=60 no-store` lacks a comma.
  if (argument !== null && name !== 'no-cache' && name !== 'private' && !rest.startsWith('="')) {
    restrict(directives, argument)
  }
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

function smallest(
  directives: CacheControlDirectives,
  name: 'max-age' | 's-maxage' | 'max-stale' | 'stale-while-revalidate' | 'stale-if-error',
  value: number,
): void {
  directives[name] = Math.min(value, directives[name] ?? value)
}

/** Limited to the named fields, unless the list is empty or malformed, or the directive also came without one. */
function qualify(
  directives: CacheControlDirectives,
  name: 'no-cache' | 'private',
  argument: string | null,
): void {
  const names = argument === null ? [] : argument.split(',').map((part) => part.trim().toLowerCase())
  const known = directives[name]
  if (
    known === true ||
    names.length === 0 ||
    !names.every((part) => LEADING_TOKEN.exec(part)?.[0] === part)
  ) {
    directives[name] = true
  } else {
    directives[name] = known === undefined ? names : [...known, ...names]
  }
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
