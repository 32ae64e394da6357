/**
 * Puts a guard in front of connections. A name is resolved once: the addresses that pass the guard are those
 * that sockets get, so that no second answer of the resolver (DNS rebinding) can replace them.
 */
import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { loadDns } from '../base/node/lazy-modules.ts'
import { blockedError, type Guard } from '../guard/guard.ts'
import { asAddress, settledLookup } from './addresses.ts'

/** A `lookup` whose answers are only the addresses that pass. */
export function guardedLookup(
  guard: Guard,
  hostname: string,
  port: string | number,
  given: LookupFunction | null,
): LookupFunction {
  const lookup = settledLookup(given ?? loadDns().lookup)
  return (name, options, callback) => {
    lookup(name, options, (error, answer) => {
      if (error) {
        callback(error, '', 0)
        return
      }
      // Copied, so that what was checked is what is used.
      const addresses = (Array.isArray(answer) ? answer : [answer]).map(asAddress)
      const { admitted, refusal } = guard.admit(hostname, port, addresses)
      const first: LookupAddress | undefined = admitted[0]
      if (first === undefined && refusal !== null) callback(blockedError(refusal), '', 0)
      else if (options.all) callback(null, [...admitted])
      else callback(null, first?.address ?? '', first?.family ?? 0)
    })
  }
}
