/**
 * `interceptors.circuitBreaker`: requests to an origin that fails most of the time fail at once, without
 * being sent.
 */

import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { CircuitOpenError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import { readLoosely } from '../../options.ts'
import { SharedStore } from '../../redis/shared-store.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { isUpstreamFault } from '../../relay/error-facts.ts'
import { OriginTable, originKey } from '../../relay/origin-key.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import { type CircuitState, watcherOf } from '../../relay/request-watcher.ts'
import type { Head } from '../../relay/response-source.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { Circuit, type Outcome, REFUSED } from './circuit.ts'
import { CIRCUIT_BREAKER_OPTIONS, type CircuitBreakerOptions } from './options.ts'
import { SharedCircuits } from './shared-circuits.ts'

const NAMES = new OptionNames('interceptors.circuitBreaker()', CIRCUIT_BREAKER_OPTIONS)

/**
 * An interceptor that stops sending to an origin while most requests to it fail. Failures are errors of the
 * server or of the connection to it, and statuses of 500 and above; an abort is neither a failure nor a
 * success.
 */
export function circuitBreaker(options?: CircuitBreakerOptions | null): Interceptor {
  const { store, ...settings } = inCall(circuitBreaker, () =>
    readLoosely(CIRCUIT_BREAKER_OPTIONS, options, NAMES),
  )
  const sharedStore = store === null ? null : inCall(circuitBreaker, () => new SharedStore(store))
  return ownInterceptor((dispatch, own) => {
    const onOpen = (origin: string): void => shared?.onOpened(origin, settings.halfOpenAfter)
    const circuits = new OriginTable((origin) => new Circuit(settings, () => onOpen(origin)))
    const shared =
      sharedStore && new SharedCircuits(sharedStore, (origin, left) => circuits.get(origin).open(left))
    return (opts, handler) => {
      if (!isCall(opts, handler)) return dispatch(opts, handler)
      const key = originKey(opts, own)
      const circuit = circuits.get(key)
      shared?.onRequest()
      const before = circuit.state
      const epoch = circuit.admit()
      tell(circuit, before, opts)
      if (epoch === REFUSED) {
        const error = new CircuitOpenError(undefined, circuit.retryAfter)
        if (key !== '') error.origin = key
        destroyBodyOf(opts, error)
        handler.onResponseError?.(null, error)
        return true
      }
      return new WatchedRequest({ opts, handler, dispatch }, { circuit, epoch }).send()
    }
  })
}

/** Lets whoever watches the request know if it has changed the state of the circuit. */
function tell(circuit: Circuit, before: CircuitState, opts: DispatchOptions): void {
  if (circuit.state !== before) watcherOf(opts)?.onCircuit(circuit.state)
}

/** Reports the outcome of one request to its circuit, once. */
class WatchedRequest extends RelayedRequest<{ readonly circuit: Circuit; readonly epoch: number }> {
  /** The outcome was counted: a head may do that long before the request is over. */
  #isSettled = false

  override send(): boolean {
    try {
      return super.send()
    } catch (error) {
      // The call was wrong, and no handler is told.
      this.#settle('undecided')
      throw error
    }
  }

  #settle(outcome: Outcome): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const { circuit, epoch } = this.settings
    const before = circuit.state
    circuit.settle(epoch, outcome)
    tell(circuit, before, this.opts)
  }

  override onHead(attempt: Attempt, head: Head): void {
    if (head.statusCode >= 500) this.#settle('failure')
    // A body may take its time, and the other requests wait for the answer.
    else if (head.statusCode >= 200 && this.settings.circuit.isTrial(this.settings.epoch))
      this.#settle('success')
    super.onHead(attempt, head)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    // Another breaker has counted what an open circuit stands for.
    const isFailure = isUpstreamFault(error) && !(error instanceof CircuitOpenError)
    this.#settle(isFailure && this.downstream.isWanted ? 'failure' : 'undecided')
    super.onFailed(attempt, error)
  }

  protected override onOver(): void {
    this.#settle('success')
  }
}
