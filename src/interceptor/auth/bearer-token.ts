/**
 * `Bearer` (RFC 6750): a token that a function of the caller returns, kept until the origin refuses it. All
 * requests that need one at a time share one call of the function.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { isThenable } from '../../base/loop/thenable.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { type Credentials, NO_PROOF, type Proof, type ProofWaiter } from './credentials.ts'
import type { BearerFunction } from './options.ts'

/** One call of the function. */
interface Call {
  readonly waiters: Set<ProofWaiter>
  readonly controller: AbortController
  /** Knows the requests that the function itself makes. */
  readonly inside: AsyncLocalStorage<true>
}

/** Wider than `b64token` (§2.1), which some servers do not keep to. */
const TOKEN = /^[\x21-\x7e]+$/

export class BearerToken implements Credentials {
  readonly #function: BearerFunction
  readonly #origin: string
  #kept: Proof | null = null
  #call: Call | null = null
  /** The function is told why it is asked again. */
  #isRefused = false

  constructor(get: BearerFunction, origin: string) {
    this.#function = get
    this.#origin = origin
  }

  prove(_opts: DispatchOptions, waiter: ProofWaiter): Proof | null {
    if (this.#kept !== null) return this.#kept
    // To let it wait for the token would be to wait forever.
    if (this.#call?.inside.getStore() === true) return NO_PROOF
    if (this.#call === null) this.#ask()
    // Also after the call: a function that is not asynchronous has answered by now.
    this.#call?.waiters.add(waiter)
    return this.#kept
  }

  #ask(): void {
    const controller = new AbortController()
    const call: Call = { waiters: new Set(), controller, inside: new AsyncLocalStorage() }
    this.#call = call
    const context = { origin: this.#origin, refused: this.#isRefused, signal: controller.signal }
    try {
      const answer = call.inside.run(true, this.#function, context)
      if (!isThenable(answer)) this.#keep(call, proofOf(answer))
      // In a later turn, whatever a foreign `then` does: the waiter is not there yet.
      else
        Promise.resolve(answer).then(
          (value) => this.#end(call, value),
          (error: unknown) => this.#fail(call, error),
        )
    } catch (error) {
      this.#close(call)
      throw error
    }
  }

  #end(call: Call, value: unknown): void {
    if (this.#call !== call) return
    try {
      const proof = proofOf(value)
      this.#keep(call, proof)
      for (const waiter of call.waiters) waiter(proof, null)
    } catch (error) {
      this.#fail(call, error)
    }
  }

  #keep(call: Call, proof: Proof): void {
    this.#kept = proof
    this.#isRefused = false
    this.#close(call)
  }

  #fail(call: Call, error: unknown): void {
    if (this.#call !== call) return
    this.#close(call)
    for (const waiter of call.waiters) waiter(null, error)
  }

  #close(call: Call): void {
    if (this.#call === call) this.#call = null
    // Where it is a hook of promises, it would make each of them slower.
    call.inside.disable()
  }

  /** Nobody waits for a call of which all have given up: the next request makes another one. */
  leave(waiter: ProofWaiter): void {
    const call = this.#call
    if (call === null || !call.waiters.delete(waiter) || call.waiters.size > 0) return
    this.#close(call)
    call.controller.abort()
  }

  onRefused(proof: Proof, _headers: HeaderObject, repeats: number): boolean {
    // It may have been replaced since: another request was refused before.
    if (this.#kept === proof) {
      this.#kept = null
      this.#isRefused = true
    }
    return proof !== NO_PROOF && repeats === 0
  }

  onAnswered(): void {}
}

/** The message must not show what may be a token. */
function proofOf(value: unknown): Proof {
  // A new object each time: it says which call of the function it is from.
  if (value === null || value === undefined) return { field: null }
  if (typeof value === 'string' && TOKEN.test(value)) return { field: `Bearer ${value}` }
  throw new InvalidArgumentError('bearer must return a token without spaces, or null')
}
