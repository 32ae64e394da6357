/** The options of the auth interceptor: their checks, and which origins get the credentials. */
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import type { OwnOrigin } from '../../dispatcher/compose.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { type Check, isAnything, isFunction, isString, option, readOptions } from '../../options.ts'
import { originOf } from '../../relay/origin-key.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/** What the function `bearer` is told. */
export interface BearerContext {
  /** The token is for this origin. */
  readonly origin: string
  /** The origin has answered the last token with 401: one from a cache of the program's own is of no use. */
  readonly refused: boolean
  /** Aborted when no request waits for the token any more. */
  readonly signal: AbortSignal
}

/** Returns a token; null for a request without one. */
export type BearerFunction = (
  context: BearerContext,
) => string | null | undefined | Promise<string | null | undefined>

/** For Basic and Digest. */
export interface AuthUser {
  /** Basic allows no colon in it. */
  username: string
  /** Any text. */
  password: string
}

interface AuthSchemes {
  /** Returns the token. It is kept until the origin refuses it. */
  bearer: BearerFunction
  /** Sent with each request (RFC 7617). */
  basic: AuthUser
  /** Answers the challenges of the origin (RFC 7616). */
  digest: AuthUser
}

/** One, and none of the others. */
type ExactlyOne<T> = {
  [N in keyof T]: { [K in N]: T[K] } & { [K in Exclude<keyof T, N>]?: null | undefined }
}[keyof T]

/** Which origins get the credentials. */
export type AuthOrigins = string | URL | readonly (string | URL)[] | ((origin: string) => boolean)

interface AuthScope {
  /**
   * Which origins get the credentials. Default: that of the client or pool. A dispatcher of many origins, such as
   * an `Agent`, has no default.
   */
  origins?: AuthOrigins | null | undefined
}

/** Options of `interceptors.auth`: exactly one of `bearer`, `basic` and `digest`. */
export type AuthOptions = AuthScope & ExactlyOne<AuthSchemes>

export interface AuthSettings {
  readonly bearer: BearerFunction | null
  readonly basic: AuthUser | null
  readonly digest: AuthUser | null
  /** Null for that of the dispatcher. */
  readonly origins: ReadonlySet<string> | ((origin: string) => boolean) | null
}

const ORIGINS = 'origins must be an origin, a list of origins, or a function'

/** RFC 7617 §2 has none in either, and RFC 7616 puts them into a field. */
const CONTROL = /\p{Cc}/u

const isText: Check = (value) => isString(value) && !CONTROL.test(value as string)
const isUser: Check = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const { username, password } = { ...(value as Partial<AuthUser>) }
  return isText(username) && isText(password)
}
/** The first colon ends the name (RFC 7617 §2). */
const isBasicUser: Check = (value) => isUser(value) && !(value as AuthUser).username.includes(':')

const OPTIONS = {
  bearer: option<BearerFunction | null>(null, isFunction, 'bearer must be a function'),
  basic: option<AuthUser | null>(
    null,
    isBasicUser,
    'basic must have a username without a colon and a password',
    copy,
  ),
  digest: option<AuthUser | null>(null, isUser, 'digest must have a username and a password', copy),
  origins: option<AuthSettings['origins']>(null, isAnything, ORIGINS, readOrigins),
}

function copy({ username, password }: AuthUser): AuthUser {
  return { username, password }
}

function readOrigins(given: AuthOrigins): AuthSettings['origins'] {
  if (typeof given === 'function') return given
  return new Set(
    [given]
      .flat()
      .map((one: unknown) => (one instanceof URL ? one.href : one))
      .map(readOrigin),
  )
}

/** Credentials in it would be lost without a word, and a path would suggest that they go only there. */
function readOrigin(text: unknown): string {
  const url = isString(text) && URL.canParse(text as string) ? new URL(text as string) : null
  const origin = url !== null && /^https?:$/.test(url.protocol) ? url.origin : null
  if (url === null || origin === null || url.href !== `${origin}/`) throw new InvalidArgumentError(ORIGINS)
  return origin
}

export function readAuthOptions(options: AuthOptions): AuthSettings {
  const settings = readOptions<AuthSettings>(OPTIONS, options)
  const { bearer, basic, digest } = settings
  if ([bearer, basic, digest].filter((scheme) => scheme !== null).length !== 1)
    throw new InvalidArgumentError('auth needs exactly one of bearer, basic and digest')
  return settings
}

/** Called when a dispatcher is composed: to guess an origin would hand the credentials to whoever is asked first. */
export function checkScope({ origins }: AuthSettings, own: OwnOrigin): void {
  if (origins === null && own === undefined)
    throw new InvalidArgumentError(
      'origins must say who gets the credentials: the dispatcher has many origins',
    )
}

/** The origin that gets credentials with this request; null if it gets none. */
export function originFor(opts: DispatchOptions, { origins }: AuthSettings, own: OwnOrigin): string | null {
  // A tunnel, `OPTIONS *`, and a request in absolute form: what answers is not the origin, but a proxy.
  if (opts.method === 'CONNECT' || typeof opts.path !== 'string' || !opts.path.startsWith('/')) return null
  const origin = originOf(opts, own)
  // A balanced pool sends to nobody but its upstreams.
  if (origins === null) return origin ?? ''
  if (origin === null) return null
  if (typeof origins !== 'function') return origins.has(origin) ? origin : null
  const answer: unknown = origins(origin)
  // A promise is true in a condition: a check that has become asynchronous would allow everything.
  ignoreRejection(answer)
  if (typeof answer !== 'boolean') throw new InvalidArgumentError('origins must return a boolean')
  return answer ? origin : null
}
