/** The options of the guard interceptor. */
import { InvalidArgumentError } from '../../errors.ts'
import { Guard } from '../../guard/guard.ts'
import { type GuardOptions, type GuardPolicy, readGuardSettings } from '../../guard/options.ts'
import { listOf, oneOf, option, ownOptions, readOption } from '../../options.ts'

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

const OWN: ReadonlySet<string> = new Set(['schemes'])

const SCHEMES = option<readonly string[]>(
  ['http', 'https'],
  listOf(oneOf('http', 'https')),
  "schemes of a guard must be an array of 'http' and 'https'",
)

export function readGuardInterceptorOptions(
  given: GuardPolicy | GuardInterceptorOptions | null | undefined,
): GuardInterceptorSettings {
  const options = given ?? 'public-only'
  const settings = readGuardSettings(options, OWN)
  const own = ownOptions<GuardInterceptorOptions>(Object(options))
  for (const name of ['strict', 'resolve']) {
    if (Object.hasOwn(own, name)) {
      throw new InvalidArgumentError(`${name} is for the guard of a connector: use connect.guard`)
    }
  }
  const schemes = readOption('schemes', own.schemes, SCHEMES)
  return { guard: new Guard(settings), schemes: new Set(schemes.map((scheme) => `${scheme}:`)) }
}
