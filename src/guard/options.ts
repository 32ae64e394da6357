/** The options of a guard: their types, and what they come to. */
import { InvalidArgumentError } from '../errors.ts'
import { type HostEntry, readHostEntry } from './host-entry.ts'

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
  /** `'public-only'` refuses what is not on the public Internet, `'any'` nothing. Default: `'public-only'`. */
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
  /** true: names are also resolved, and their addresses checked, before a proxy is asked for them. Default: false. */
  resolve?: boolean | null | undefined
}

export interface GuardSettings {
  readonly policy: GuardPolicy
  readonly allow: readonly HostEntry[]
  readonly deny: readonly HostEntry[]
  /** Null for all. */
  readonly hosts: readonly HostEntry[] | null
  /** Null for those that the policy does not refuse. */
  readonly ports: ReadonlySet<number> | null
  readonly check: ((target: GuardTarget) => unknown) | null
  readonly strict: boolean
  readonly resolve: boolean
}

const NAMES: ReadonlySet<string> = new Set([
  'policy',
  'allow',
  'deny',
  'hosts',
  'ports',
  'check',
  'strict',
  'resolve',
])
const MAX_PORT = 65_535

/** Only own properties count. A name that is not an option is a mistake that would leave a door open. */
export function readGuardSettings(
  given: GuardPolicy | GuardOptions,
  others: ReadonlySet<string> | null = null,
): GuardSettings {
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new InvalidArgumentError("guard must be 'public-only', 'any' or an object")
  }
  const own: GuardOptions = Object.assign(
    Object.create(null),
    typeof given === 'string' ? { policy: given } : given,
  )
  for (const name of Object.keys(own)) {
    if (!NAMES.has(name) && others?.has(name) !== true) {
      throw new InvalidArgumentError(`unknown option of a guard: ${name}`)
    }
  }
  const { check } = own
  const policy = own.policy ?? 'public-only'
  if (policy !== 'public-only' && policy !== 'any') {
    throw new InvalidArgumentError("policy of a guard must be 'public-only' or 'any'")
  }
  if (check !== null && check !== undefined && typeof check !== 'function') {
    throw new InvalidArgumentError('check of a guard must be a function')
  }
  return {
    policy,
    allow: readList(own.allow, 'allow') ?? [],
    deny: readList(own.deny, 'deny') ?? [],
    hosts: readList(own.hosts, 'hosts'),
    ports: readPorts(own.ports),
    check: check ?? null,
    strict: readFlag(own.strict, 'strict'),
    resolve: readFlag(own.resolve, 'resolve'),
  }
}

function readList(list: unknown, option: string): readonly HostEntry[] | null {
  if (list === null || list === undefined) return null
  if (!Array.isArray(list)) throw new InvalidArgumentError(`${option} of a guard must be an array`)
  return list.map((text) => {
    const entry = readHostEntry(text)
    if (entry === null) {
      throw new InvalidArgumentError(`invalid entry in ${option} of a guard: ${String(text)}`)
    }
    return entry
  })
}

function readPorts(list: unknown): ReadonlySet<number> | null {
  if (list === null || list === undefined) return null
  const isPort = (port: unknown): boolean =>
    Number.isInteger(port) && (port as number) > 0 && (port as number) <= MAX_PORT
  if (!Array.isArray(list) || !list.every(isPort)) {
    throw new InvalidArgumentError('ports of a guard must be an array of port numbers')
  }
  return new Set(list as number[])
}

function readFlag(value: unknown, option: string): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return value === true
  throw new InvalidArgumentError(`${option} of a guard must be a boolean`)
}
