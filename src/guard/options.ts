/** The options of a guard: their types, and what they come to. */
import { InvalidArgumentError } from '../errors.ts'
import {
  type Check,
  type Filled,
  integerFrom,
  isBoolean,
  isFunction,
  listOf,
  type Option,
  type OptionTable,
  oneOf,
  option,
  readOptions,
} from '../options.ts'
import { type HostEntry, MAX_PORT, readHostEntry } from './host-entry.ts'

/** What is refused unless the lists decide otherwise. */
export type GuardPolicy = 'public-only' | 'any'

/** Where a connection is about to go: the argument of `check`. */
export interface GuardTarget {
  /** The name or the IP literal that was asked for. */
  readonly hostname: string
  /** Where the connection goes; null where a proxy resolves the name, or nothing has resolved it yet. */
  readonly address: string | null
  /** 4 or 6; 0 without an address. */
  readonly family: 0 | 4 | 6
  /** Where no port was given, that of the scheme. */
  readonly port: number
}

/** Options of a guard. */
export interface GuardOptions {
  /** `'public-only'` refuses what is not on the Internet, `'any'` nothing. Default: `'public-only'`. */
  policy?: GuardPolicy | null | undefined
  /** Addresses, blocks and names that the policy does not apply to. */
  allow?: readonly string[] | null | undefined
  /** Addresses, blocks and names that are always refused. */
  deny?: readonly string[] | null | undefined
  /** The only hosts that may be asked for, in the same notation. Default: all. */
  hosts?: readonly string[] | null | undefined
  /** The only ports that may be used. Default: those that the policy does not refuse. */
  ports?: readonly number[] | null | undefined
  /** Asked last, about what nothing else refuses; `false` refuses it, too. */
  check?: ((target: GuardTarget) => boolean) | null | undefined
  /** true: a name is refused if any of its addresses is. Default: false, the other addresses are used. */
  strict?: boolean | null | undefined
  /** true: names are resolved and checked before a proxy is asked for them. Default: false. */
  resolve?: boolean | null | undefined
}

export interface GuardSettings extends Filled<Pick<GuardOptions, 'policy' | 'strict' | 'resolve'>> {
  readonly allow: readonly HostEntry[]
  readonly deny: readonly HostEntry[]
  /** Null for all. */
  readonly hosts: readonly HostEntry[] | null
  /** Null for those that the policy does not refuse. */
  readonly ports: ReadonlySet<number> | null
  readonly check: ((target: GuardTarget) => unknown) | null
}

const isPort: Check = (port) => integerFrom(1)(port) && (port as number) <= MAX_PORT

const list = <T>(name: string, fallback: T): Option<readonly HostEntry[] | T> =>
  option<readonly HostEntry[] | T>(fallback, Array.isArray, `${name} of a guard must be an array`, readList)
const flag = (name: string): Option<boolean> =>
  option(false, isBoolean, `${name} of a guard must be a boolean`)

const OPTIONS: OptionTable<GuardSettings> = {
  policy: option<GuardPolicy>(
    'public-only',
    oneOf('public-only', 'any'),
    "policy of a guard must be 'public-only' or 'any'",
  ),
  check: option<GuardSettings['check']>(null, isFunction, 'check of a guard must be a function'),
  allow: list('allow', []),
  deny: list('deny', []),
  hosts: list('hosts', null),
  ports: option<GuardSettings['ports']>(
    null,
    listOf(isPort),
    'ports of a guard must be an array of port numbers',
    (ports: number[]) => new Set(ports),
  ),
  strict: flag('strict'),
  resolve: flag('resolve'),
}

/** A misspelt option would silently allow what it was meant to refuse. */
export function readGuardSettings(
  given: GuardPolicy | GuardOptions,
  others: ReadonlySet<string> | null = null,
): GuardSettings {
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new InvalidArgumentError("guard must be 'public-only', 'any' or an object")
  }
  const own = typeof given === 'string' ? { policy: given } : given
  for (const name of Object.keys(own)) {
    if (!Object.hasOwn(OPTIONS, name) && others?.has(name) !== true) {
      throw new InvalidArgumentError(`unknown option of a guard: ${name}`)
    }
  }
  return readOptions(OPTIONS, own)
}

function readList(texts: readonly unknown[], option: string): readonly HostEntry[] {
  return texts.map((text) => {
    const entry = readHostEntry(text)
    if (entry === null) {
      throw new InvalidArgumentError(`invalid entry in ${option} of a guard: ${shown(text)}`)
    }
    return entry
  })
}

/** A URL by mistake may have a password, or a token in its query. */
function shown(text: unknown): string {
  const place = String(text).replace(/[?#].*$/s, '')
  return place.replace(/^(.*\/\/)?.*@/s, '$1')
}
