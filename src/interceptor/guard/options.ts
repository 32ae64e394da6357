/** The options of the guard interceptor. */
import { InvalidArgumentError } from '../../errors.ts'
import { Guard } from '../../guard/guard.ts'
import { type GuardOptions, type GuardPolicy, readGuardSettings } from '../../guard/options.ts'

/** Options of `interceptors.guard`. What is about resolved addresses is for the guard of a connector. */
export interface GuardInterceptorOptions extends Omit<GuardOptions, 'strict' | 'resolve'> {
  /** The only schemes that may be used: `http`, `https`. Default: both. */
  schemes?: readonly ('http' | 'https')[] | null | undefined
}

export interface GuardInterceptorSettings {
  readonly guard: Guard
  /** With the colon. */
  readonly schemes: ReadonlySet<string>
}

const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:'])
const OWN: ReadonlySet<string> = new Set(['schemes'])

export function readGuardInterceptorOptions(
  given: GuardPolicy | GuardInterceptorOptions | null | undefined,
): GuardInterceptorSettings {
  const options = given ?? 'public-only'
  const settings = readGuardSettings(options, OWN)
  const own: GuardInterceptorOptions = Object.assign(Object.create(null), Object(options))
  for (const name of ['strict', 'resolve']) {
    if (Object.hasOwn(own, name)) {
      throw new InvalidArgumentError(`${name} is for the guard of a connector: use connect.guard`)
    }
  }
  return { guard: new Guard(settings), schemes: readSchemes(own.schemes) }
}

function readSchemes(given: unknown): ReadonlySet<string> {
  if (given === null || given === undefined) return SCHEMES
  if (!Array.isArray(given) || !given.every((scheme) => scheme === 'http' || scheme === 'https')) {
    throw new InvalidArgumentError("schemes of a guard must be an array of 'http' and 'https'")
  }
  return new Set(given.map((scheme) => `${scheme}:`))
}
