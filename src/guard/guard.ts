/**
 * Decides where connections may go, by host name, port and address. It opens and resolves nothing: those who
 * do ask it before, and use only what it lets through. The order of the rules: `deny`, `hosts`, `ports`,
 * `allow`, the policy, `check`.
 */
import { domainToASCII } from 'node:url'
import { BAD_PORTS } from '../base/address/bad-ports.ts'
import { ipBytes } from '../base/address/ip-address.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { type BlockedAddressDetails, BlockedAddressError, InvalidArgumentError } from '../errors.ts'
import { endsInNumber, findBroadly, findEntry, type HostFacts } from './host-entry.ts'
import { type GuardOptions, type GuardPolicy, type GuardSettings, readGuardSettings } from './options.ts'
import { specialBlockOf } from './special-addresses.ts'

/** The rule that refuses a connection, and what it was about. */
export interface Refusal extends Readonly<BlockedAddressDetails> {
  readonly cause?: unknown
}

type Reason = Pick<Refusal, 'rule' | 'entry' | 'cause'>

/**
 * Names that only have a meaning inside a machine or a network (RFC 6761 §6.3, RFC 6762 §3, RFC 8375, and
 * `internal`, which ICANN keeps for that; the metadata service of Google is `metadata.google.internal`).
 */
const LOCAL_ENDINGS: readonly string[] = ['localhost', 'local', 'internal', 'home.arpa', 'localdomain']

/** Null without an option. Throws for a wrong one. */
export function readGuard(given: GuardPolicy | GuardOptions | null | undefined): Guard | null {
  return given === null || given === undefined ? null : new Guard(readGuardSettings(given))
}

export class Guard {
  readonly #settings: GuardSettings

  constructor(settings: GuardSettings) {
    this.#settings = settings
  }

  /** Names are to be resolved before a proxy is asked for them. */
  get resolves(): boolean {
    return this.#settings.resolve
  }

  /** The same question always has the same answer. */
  get isConstant(): boolean {
    return this.#settings.check === null
  }

  /** Before the name is resolved. For an IP literal this is the whole check. */
  refuseHost(hostname: string, port: string | number): Refusal | null {
    const host = hostOf(hostname, port)
    const { address } = host
    const reason = this.#aboutHost(host) ?? (address && this.#aboutAddress(host, address, hostname))
    return reason && refusal(reason, host, address && hostname)
  }

  /** Where others resolve the name, or nothing has yet. */
  refuseName(hostname: string, port: string | number): Refusal | null {
    const host = hostOf(hostname, port)
    if (host.address !== null) return this.refuseHost(hostname, port)
    const reason = this.#aboutHost(host) ?? this.#aboutLocalName(host) ?? this.#ask(host)
    return reason && refusal(reason, host, null)
  }

  /**
   * For the addresses that a name was resolved to; `refuseHost` was asked before. Returns those that may be
   * used, and the first of the refusals of the others.
   */
  admit<A extends { readonly address: string }>(
    hostname: string,
    port: string | number,
    addresses: readonly A[],
  ): { readonly admitted: readonly A[]; readonly refusal: Refusal | null } {
    const host = hostOf(hostname, port)
    let first: Refusal | null = null
    const admitted = addresses.filter(({ address }) => {
      const bytes = ipBytes(withoutZone(address))
      const reason = bytes === null ? NOT_AN_ADDRESS : this.#aboutAddress(host, bytes, address)
      if (reason === null) return true
      first ??= refusal(reason, host, address)
      return false
    })
    return { admitted: first !== null && this.#settings.strict ? [] : admitted, refusal: first }
  }

  /** For a Unix socket or a named pipe, which is part of this machine. */
  refuseSocketPath(path: string): Refusal | null {
    if (this.#settings.policy === 'any') return null
    return { rule: 'socket-path', address: path }
  }

  #aboutHost(host: HostFacts): Reason | null {
    const { deny, hosts, ports, policy } = this.#settings
    const denied = findBroadly(deny, host)
    if (denied !== null) return { rule: 'deny', entry: denied.text }
    if (hosts !== null && findEntry(hosts, host) === null) return { rule: 'hosts' }
    if (ports !== null) return ports.has(host.port) ? null : { rule: 'ports' }
    const isBad = policy === 'public-only' && BAD_PORTS.has(String(host.port))
    return isBad ? { rule: 'bad-port' } : null
  }

  #aboutAddress(host: HostFacts, address: Uint8Array, text: string): Reason | null {
    const { deny, allow, policy } = this.#settings
    const facts: HostFacts = { ...host, address }
    const denied = findBroadly(deny, facts)
    if (denied !== null) return { rule: 'deny', entry: denied.text }
    if (policy === 'public-only' && findEntry(allow, facts) === null) {
      const special = specialBlockOf(address)
      if (special !== null) return special
    }
    return this.#ask(facts, text)
  }

  /** A name without a dot is completed by the resolver of the network that it is used in. */
  #aboutLocalName({ name, ...host }: HostFacts): Reason | null {
    const { allow, policy } = this.#settings
    if (policy === 'any' || findEntry(allow, { name, ...host }) !== null) return null
    if (endsInNumber(name!)) return NOT_AN_ADDRESS
    const ending = LOCAL_ENDINGS.find((each) => name === each || name!.endsWith(`.${each}`))
    if (ending !== undefined) return { rule: 'local-name', entry: `.${ending}` }
    return !name!.includes('.') ? { rule: 'local-name' } : null
  }

  /** A promise is true in a condition: a check that has become asynchronous would allow everything. */
  #ask({ hostname, address, port }: HostFacts, text: string | null = null): Reason | null {
    const { check } = this.#settings
    if (check === null) return null
    try {
      const family = address === null ? 0 : address.length === 4 ? 4 : 6
      const answer = check({ hostname, address: text, family, port })
      ignoreRejection(answer)
      if (answer === true) return null
      if (answer === false) return { rule: 'check' }
      throw new InvalidArgumentError('check of a guard must return a boolean')
    } catch (cause) {
      return { rule: 'check', cause }
    }
  }
}

const NOT_AN_ADDRESS: Reason = { rule: 'invalid-address' }

export function blockedError({ rule, cause, ...details }: Refusal): BlockedAddressError {
  const options = cause === undefined ? undefined : { cause }
  return new BlockedAddressError(`Blocked by the guard: ${rule}`, { rule, ...details }, options)
}

function refusal(reason: Reason, { hostname, port }: HostFacts, address: string | null): Refusal {
  return { ...reason, hostname, address, port: Number.isNaN(port) ? null : port }
}

/** A port as the runtime reads it, also in the form `0x50`. */
function hostOf(hostname: string, port: string | number): HostFacts {
  const address = ipBytes(withoutZone(hostname))
  // The resolver of the runtime converts names that are not ASCII: `ⓔvil.test` is `evil.test`. What is not a
  // name in any form is converted to an empty text.
  const ascii = (/\P{ASCII}/u.test(hostname) && domainToASCII(hostname)) || hostname
  const name = address === null ? withoutLastDots(ascii.toLowerCase()) : null
  return { hostname, name, address, port: Number(port) }
}

/** The name may be a stranger's: a regular expression would need quadratic time for many dots. */
function withoutLastDots(name: string): string {
  let end = name.length
  while (name[end - 1] === '.') end--
  return name.slice(0, end)
}

/** A zone selects an interface of this machine (RFC 4007 §11). Only IPv6 addresses have one. */
function withoutZone(address: string): string {
  const at = address.includes(':') ? address.indexOf('%') : -1
  return at === -1 ? address : address.slice(0, at)
}
