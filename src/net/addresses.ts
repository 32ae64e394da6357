/**
 * The addresses of a host: asking for all of them, their order, and a lookup that answers with one of them.
 */
import type { LookupAddress, LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { asError } from '../base/error/as-error.ts'
import { onRejection } from '../base/loop/thenable.ts'
import { loadNet } from '../base/node/lazy-modules.ts'

const FAILED = 'lookup failed'

/** Asks for all addresses; accepts the answer of a resolver that only gives one. */
export function resolveAll(
  lookup: LookupFunction,
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
): void {
  settledLookup(lookup)(hostname, { ...options, all: true }, (error, answer) => {
    if (error) callback(error, [])
    else callback(null, (Array.isArray(answer) ? answer : [answer]).map(asAddress))
  })
}

/**
 * As a caller's resolver, but one that throws, or is async and rejects, answers with that: the process would
 * end otherwise. Only its first answer counts; the runtime would act on each.
 */
export function settledLookup<T extends LookupFunction | null>(lookup: T): T | LookupFunction {
  if (typeof lookup !== 'function') return lookup
  return (hostname, options, callback) => {
    let isAnswered = false
    const answer = ((error, ...found) => {
      if (isAnswered) return
      isAnswered = true
      callback(error ? asError(error, FAILED) : null, ...found)
    }) as typeof callback
    const fail = (reason: unknown): void => answer(asError(reason, FAILED), '', 0)
    try {
      onRejection(lookup(hostname, options, answer), fail)
    } catch (thrown) {
      fail(thrown)
    }
  }
}

/**
 * An entry that is not an address keeps its place with family 0: the runtime refuses it with its own error.
 */
export function asAddress(entry: LookupAddress | string): LookupAddress {
  const address = typeof entry === 'string' ? entry : textOf(entry)
  return { address, family: loadNet().isIP(address) }
}

/**
 * A caller's resolver may answer with objects that have no text; nothing around its callback would catch
 * that.
 */
function textOf(entry: LookupAddress): string {
  try {
    return String(entry?.address)
  } catch {
    return ''
  }
}

/** A `lookup` that always answers with this address, in the shape asked for. */
export function lookupOf(address: LookupAddress): LookupFunction {
  return (_hostname, options, callback) => {
    if (options.all) callback(null, [address])
    else callback(null, address.address, address.family)
  }
}

/** Alternates the families, beginning with that of the first address (RFC 8305 §4). */
export function interleaveFamilies(addresses: readonly LookupAddress[]): LookupAddress[] {
  const family = addresses[0]?.family
  const same = addresses.filter((address) => address.family === family)
  const other = addresses.filter((address) => address.family !== family)
  return addresses.flatMap((_, i) => [same[i], other[i]]).filter((address) => address !== undefined)
}
