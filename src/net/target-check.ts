/**
 * Checks a target that a proxy connects to. By default only what the proxy is told can be checked: the name,
 * or the IP literal, and the port. A guard that resolves also looks the name up here, within the time limit,
 * and answers with an address for those who can pass that to the proxy in place of the name.
 */
import type { LookupFunction } from 'node:net'
import { loadDns } from '../base/node/lazy-modules.ts'
import { blockedError, type Guard, readGuard } from '../guard/guard.ts'
import { resolveAll } from './addresses.ts'
import { timeoutError } from './connect-errors.ts'
import { startConnectTimeout } from './connect-timeout.ts'
import type { BuildConnectorOptions } from './connector.ts'
import { DEFAULT_TIMEOUT } from './connector-options.ts'

export interface ProxiedTarget {
  readonly hostname: string
  readonly port: number
}

export interface TargetCheckSettings {
  readonly guard: Guard
  /** The caller's resolver; null for the runtime's. */
  readonly lookup: LookupFunction | null
  /** Milliseconds; 0 for no limit. */
  readonly timeout: number
}

/** For the options of connections to targets; null if nothing guards them. Throws for a wrong `guard`. */
export function targetCheck(options: BuildConnectorOptions): TargetCheckSettings | null {
  const own: BuildConnectorOptions = Object.assign(Object.create(null), options)
  const guard = readGuard(own.guard)
  return guard && { guard, lookup: own.lookup ?? null, timeout: own.timeout ?? DEFAULT_TIMEOUT }
}

/** Called with an error, or with the address that was checked; without one, the name was. */
export type OnChecked = (error: Error | null, address: string | null) => void

/** Calls back once, perhaps at once. Returns a function that cancels it. */
export function checkTarget(
  { guard, lookup, timeout }: TargetCheckSettings,
  { hostname, port }: ProxiedTarget,
  sends: 'name' | 'address',
  callback: OnChecked,
): () => void {
  const resolves = guard.resolves
  const refusal =
    resolves && sends === 'address' ? guard.refuseHost(hostname, port) : guard.refuseName(hostname, port)
  if (refusal !== null || !resolves) {
    callback(refusal && blockedError(refusal), null)
    return () => {}
  }
  let isOver = false
  const answer: OnChecked = (error, address) => {
    if (isOver) return
    cancel()
    callback(error, address)
  }
  const onConnectTimeout = (): void => answer(timeoutError({ hostname, port, timeout }, []), null)
  // The clock holds its target weakly, and a lookup that never answers holds nothing.
  const stopClock = startConnectTimeout(timeout, { onConnectTimeout }, onConnectTimeout)
  const cancel = (): void => {
    isOver = true
    stopClock()
  }
  try {
    resolveAll(lookup ?? loadDns().lookup, hostname, {}, (error, addresses) => {
      if (error !== null) {
        answer(error, null)
        return
      }
      const { admitted, refusal: blocked } = guard.admit(hostname, port, addresses)
      // Nothing is known about the families that the proxy has; the older one is nearly everywhere.
      const chosen = admitted.find(({ family }) => family === 4) ?? admitted[0]
      if (chosen !== undefined) answer(null, chosen.address)
      else answer(blocked === null ? notFound(hostname) : blockedError(blocked), null)
    })
  } catch (error) {
    answer(error as Error, null)
  }
  return cancel
}

/** As the runtime's error for a name without addresses. */
function notFound(hostname: string): Error {
  const fields = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname }
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), fields)
}
