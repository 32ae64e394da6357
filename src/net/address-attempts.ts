/**
 * Owns one connect: the addresses of the host, the sockets trying them, and the single answer to the caller.
 * It knows nothing of TLS options or HTTP; how a socket is opened is given to it.
 *
 * The socket must be returned before the host is resolved, so the first socket is opened at once, with a
 * `lookup` that keeps the whole answer of the resolver and lets that socket try the first address. Nearly
 * always this is the socket that ends up connected. Each further address gets another socket:
 *
 * - `sequence`: the next address is tried when the one before has failed, or is slow: after a second. That one
 *   keeps running, the first to connect wins and the rest are closed;
 * - `race`: the same, but the families alternate and the delay is that of RFC 8305 §5;
 * - `single`: the runtime resolves and takes the first address.
 *
 * The family that wins goes first next time: see preferred-families.ts.
 *
 * Only reaching the address counts. A TLS failure after that is final: it is about the host, not the address.
 * Destroying the returned socket ends the connect while that socket is still trying; `abandon` also
 * ends it when later addresses are being tried.
 */

import type { LookupAddress } from 'node:dns'
import type { LookupFunction, Socket } from 'node:net'
import { ignoreError } from '../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../base/loop/timer.ts'
import { loadDns } from '../base/node/lazy-modules.ts'
import type { ConnectTimeoutError } from '../errors.ts'
import { interleaveFamilies, lookupOf, resolveAll } from './addresses.ts'
import type { ConnectDetails } from './connect-details.ts'
import {
  type AddressError,
  AddressesError,
  aborted,
  isAboutAddress,
  isTimedOutAggregate,
  timeoutError,
} from './connect-errors.ts'
import { startConnectTimeout } from './connect-timeout.ts'
import type { PreferredFamilies } from './preferred-families.ts'

export type AddressPolicy = 'single' | 'sequence' | 'race'

export interface AttemptOptions {
  readonly hostname: string
  readonly port: string | number
  readonly policy: AddressPolicy
  /** The caller's resolver; null for the runtime's. */
  readonly lookup: LookupFunction | null
  /** Milliseconds a race waits for an attempt before it starts the next one. */
  readonly attemptDelay: number
  /** What the connector has learnt from earlier connects. */
  readonly families: PreferredFamilies
  /** Milliseconds for the whole connect; 0 for no limit. */
  readonly timeout: number
  /** The event after which the socket is of use. */
  readonly readyEvent: 'connect' | 'secureConnect'
  /** Filled in for the client, if there is one. */
  readonly details: ConnectDetails | null
  /** Opens a socket; a null lookup leaves the resolving to the runtime. May throw. */
  open(lookup: LookupFunction | null): Socket
}

export type AttemptCallback = (error: Error | null, socket?: Socket) => void

interface Attempt {
  readonly socket: Socket
  address: LookupAddress | null
  startedAt: number
  readonly listeners: readonly (readonly [event: string, listener: (error: Error) => void])[]
}

/** RFC 8305 §5: the delay between attempts must not be less than 10 ms. */
const LEAST_ATTEMPT_DELAY = 10

/** How long a sequence waits. A SYN that was lost is sent again after a second (RFC 6298 §2), and may still win. */
const SEQUENCE_DELAY = 1000

/** The resolver's answer may be chosen by an attacker; no honest host has as many addresses. */
const MAX_ADDRESSES = 64

/** For an empty answer; the runtime refuses it with its own error. */
const NO_ADDRESS: LookupAddress = { address: '', family: 0 }

export class AddressAttempts {
  readonly #options: AttemptOptions
  readonly #callback: AttemptCallback
  readonly #stopTimeout: () => void
  readonly #running = new Set<Attempt>()
  readonly #failures: AddressError[] = []
  /** Addresses given to a socket so far, only kept if the host has several. */
  readonly #attempted: string[] = []
  #waiting: LookupAddress[] = []
  /** The one that the resolver has put first. */
  #firstFamily = 0
  #winner: Attempt | null = null
  #returned: Socket | null = null
  #decided = false
  #nextTimer: ReturnType<typeof setTimeout> | null = null

  private constructor(options: AttemptOptions, callback: AttemptCallback) {
    this.#options = options
    this.#callback = callback
    this.#stopTimeout = startConnectTimeout(options.timeout, this, lostConnect(options, callback))
  }

  /** Starts a connect and returns its first socket. Throws if `open` throws, without a callback. */
  static start(options: AttemptOptions, callback: AttemptCallback): Socket {
    const attempts = new AddressAttempts(options, callback)
    try {
      return attempts.#openFirst()
    } catch (error) {
      attempts.#decided = true
      attempts.#stopTimeout()
      throw error
    }
  }

  /** Ends the connect, whichever socket is trying now. Returns the sockets that were destroyed. */
  abandon(reason: Error): readonly Socket[] {
    const sockets = [...this.#running].map(({ socket }) => socket)
    this.#fail(reason)
    return sockets
  }

  onConnectTimeout(): void {
    const failures = this.#failures
    const cause = failures.length === 0 ? undefined : new AddressesError(failures)
    this.#fail(this.#timeoutError(cause))
  }

  #openFirst(): Socket {
    if (this.#options.policy === 'single') {
      this.#returned = this.#options.open(null)
      this.#watch(this.#returned, null)
    } else {
      // The runtime may call the lookup, and that may answer, before `open` returns.
      let first: Attempt | null = null
      let answer: readonly LookupAddress[] | null = null
      this.#returned = this.#options.open((hostname, options, callback) => {
        resolveAll(this.#options.lookup ?? loadDns().lookup, hostname, options, (error, addresses) => {
          const ordered = this.#inOrder(addresses)
          if (first === null) answer = ordered
          else this.#onResolved(first, ordered)
          if (error !== null) callback(error, '', 0)
          else lookupOf(ordered[0] ?? NO_ADDRESS)(hostname, options, callback)
        })
      })
      first = this.#watch(this.#returned, null)
      if (answer !== null) this.#onResolved(first, answer)
    }
    const { details } = this.#options
    if (details !== null && !this.#decided) details.pending = this
    return this.#returned
  }

  #inOrder(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    const { hostname, families, policy } = this.#options
    this.#firstFamily = addresses[0]?.family ?? 0
    const preferred = families.order(hostname, addresses)
    return policy === 'race' ? interleaveFamilies(preferred) : preferred
  }

  #onResolved(first: Attempt, addresses: readonly LookupAddress[]): void {
    if (this.#decided || addresses.length < 2) return
    first.address = addresses[0]!
    first.startedAt = globalThis.performance.now()
    this.#waiting = addresses.slice(1, MAX_ADDRESSES)
    this.#noteAttempt(first.address)
    this.#scheduleNext()
  }

  #watch(socket: Socket, address: LookupAddress | null): Attempt {
    const attempt: Attempt = {
      socket,
      address,
      startedAt: globalThis.performance.now(),
      listeners: [
        ['connect', () => this.#onReached(attempt)],
        [this.#options.readyEvent, () => this.#onReady(attempt)],
        ['error', (error) => this.#onError(attempt, error)],
        ['close', () => this.#onClose(attempt)],
      ],
    }
    this.#running.add(attempt)
    for (const [event, listener] of attempt.listeners) socket.on(event, listener)
    return attempt
  }

  #openNext(): void {
    while (this.#waiting.length > 0) {
      const address = this.#waiting.shift()!
      this.#noteAttempt(address)
      const startedAt = globalThis.performance.now()
      try {
        this.#watch(this.#options.open(lookupOf(address)), address)
        return
      } catch (error) {
        this.#noteFailure(address, startedAt, error as Error)
      }
    }
  }

  #scheduleNext(): void {
    if (this.#waiting.length === 0) return
    const { policy, attemptDelay } = this.#options
    this.#nextTimer = startTimer(
      () => {
        this.#openNext()
        this.#scheduleNext()
      },
      policy === 'race' ? Math.max(LEAST_ATTEMPT_DELAY, attemptDelay) : SEQUENCE_DELAY,
    )
    this.#nextTimer.unref?.()
  }

  #stopNext(): void {
    if (this.#nextTimer !== null) clearTimer(this.#nextTimer)
    this.#nextTimer = null
  }

  #onReached(attempt: Attempt): void {
    if (this.#winner !== null) return
    this.#winner = attempt
    const { details, families, hostname } = this.#options
    if (details !== null) details.reachedAt = globalThis.performance.now()
    if (attempt.address !== null) families.note(hostname, attempt.address.family, this.#firstFamily)
    this.#stopNext()
    this.#waiting = []
    for (const other of [...this.#running]) {
      if (other === attempt) continue
      this.#release(other)
      other.socket.destroy()
    }
  }

  #onReady(attempt: Attempt): void {
    this.#onReached(attempt)
    // Its error follows.
    if (attempt.socket.destroyed) return
    this.#decide()
    this.#callback(null, attempt.socket)
    if (attempt.socket.listenerCount('error') > 1) attempt.socket.off('error', ignoreError)
  }

  #onError(attempt: Attempt, error: Error): void {
    this.#release(attempt)
    if (attempt === this.#winner || attempt.address === null || !isAboutAddress(error)) {
      this.#fail(this.#asConnectError(error))
      return
    }
    this.#noteFailure(attempt.address, attempt.startedAt, error)
    this.#stopNext()
    this.#openNext()
    if (this.#running.size === 0) {
      this.#fail(this.#asConnectError(new AddressesError(this.#failures)))
    } else {
      this.#scheduleNext()
    }
  }

  /** A socket that closes without an error before it is connected was destroyed by its holder. */
  #onClose(attempt: Attempt): void {
    this.#release(attempt)
    this.#fail(aborted())
  }

  #fail(error: Error): void {
    if (this.#decided) return
    const sockets = [...this.#running]
    this.#decide()
    for (const attempt of sockets) attempt.socket.destroy(error)
    this.#callback(error)
  }

  #decide(): void {
    this.#decided = true
    this.#stopTimeout()
    this.#stopNext()
    this.#waiting = []
    const { details } = this.#options
    if (details !== null) details.pending = null
    for (const attempt of [...this.#running]) this.#release(attempt)
  }

  #release(attempt: Attempt): void {
    if (!this.#running.delete(attempt)) return
    const socket = attempt.socket
    // From here on errors belong to the new owner of the socket; until it listens, none may end the process.
    socket.on('error', ignoreError)
    for (const [event, listener] of attempt.listeners) socket.off(event, listener)
  }

  #noteAttempt(address: LookupAddress): void {
    this.#attempted.push(`${address.address}:${this.#options.port}`)
  }

  #noteFailure(address: LookupAddress, startedAt: number, error: AddressError): void {
    const elapsed = globalThis.performance.now() - startedAt
    // Unlike an assignment this leaves a frozen error as it is, without throwing.
    for (const [name, value] of [
      ['address', address.address],
      ['port', Number(this.#options.port)],
      ['family', address.family],
      ['elapsed', elapsed],
    ] as const) {
      Reflect.defineProperty(error, name, { value, configurable: true, enumerable: true, writable: true })
    }
    this.#failures.push(error)
  }

  #asConnectError(error: Error): Error {
    return isTimedOutAggregate(error) ? this.#timeoutError(error) : error
  }

  #timeoutError(cause: Error | undefined): ConnectTimeoutError {
    const attempted = this.#attempted.length > 0 ? this.#attempted : attemptedByRuntime(this.#returned)
    return timeoutError(this.#options, attempted, cause)
  }
}

/**
 * The answer for a connect whose sockets were all collected, for example after a lookup without an answer.
 */
function lostConnect(options: AttemptOptions, callback: AttemptCallback): () => void {
  return () => callback(timeoutError(options, []))
}

/** The runtime's own list, present when it tried several addresses by itself. */
function attemptedByRuntime(socket: Socket | null): readonly string[] {
  const list = socket?.autoSelectFamilyAttemptedAddresses
  return Array.isArray(list) ? list : []
}
