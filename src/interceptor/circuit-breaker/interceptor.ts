/**
 * `interceptors.circuitBreaker`: requests to an origin that fails most of the time fail at once, without
 * being sent.
 */
import type { Duplex } from 'node:stream'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { CircuitOpenError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { isUpstreamFault } from '../../relay/error-facts.ts'
import { OriginTable, originKey } from '../../relay/origin-key.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import { isCall } from '../../request/dispatching.ts'
import { Circuit, REFUSED } from './circuit.ts'
import { type CircuitBreakerOptions, readCircuitBreakerOptions } from './options.ts'

/**
 * An interceptor that stops sending to an origin while most requests to it fail. Failures are errors of the
 * server or of the way to it, and statuses of 500 and above; an abort is neither a failure nor a success.
 */
export function circuitBreaker(options?: CircuitBreakerOptions | null): Interceptor {
  const settings = readCircuitBreakerOptions(options)
  return ownInterceptor((dispatch, own) => {
    const circuits = new OriginTable(() => new Circuit(settings))
    return (opts, handler) => {
      if (!isCall(opts, handler)) return dispatch(opts, handler)
      const key = originKey(opts, own)
      const circuit = circuits.get(key)
      const epoch = circuit.admit()
      if (epoch === REFUSED) {
        const error = new CircuitOpenError(undefined, circuit.retryAfter)
        if (key !== '') error.origin = key
        destroyBodyOf(opts, error)
        handler.onResponseError?.(null, error)
        return true
      }
      const watching = new CircuitHandler(handler, circuit, epoch)
      try {
        return dispatch(opts, watching)
      } catch (error) {
        // The call was wrong: no handler hears of it.
        watching.settleUndecided()
        throw error
      }
    }
  })
}

/** Reports the outcome of one request to its circuit, once. */
class CircuitHandler extends ForwardingHandler {
  #circuit: Circuit | null
  readonly #epoch: number

  constructor(inner: DispatchHandler, circuit: Circuit, epoch: number) {
    super(inner)
    this.#circuit = circuit
    this.#epoch = epoch
  }

  settleUndecided(): void {
    const circuit = this.#circuit
    this.#circuit = null
    circuit?.onUndecided(this.#epoch)
  }

  #settle(succeeded: boolean): void {
    const circuit = this.#circuit
    this.#circuit = null
    if (succeeded) circuit?.onSuccess(this.#epoch)
    else circuit?.onFailure(this.#epoch)
  }

  protected override forwardQueued(abort: (reason?: unknown) => void): void {
    super.forwardQueued((reason) => {
      this.settleUndecided()
      abort(reason)
    })
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode >= 500) this.#settle(false)
    // A body may take its time, and the other requests wait for the answer.
    else if (statusCode >= 200 && this.#circuit?.isTrial(this.#epoch) === true) this.#settle(true)
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#settle(true)
    super.onResponseEnd(controller, trailers)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#settle(true)
    super.onRequestUpgrade(controller, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (isFailure(controller, error)) this.#settle(false)
    else this.settleUndecided()
    super.onResponseError(controller, error)
  }
}

/**
 * An abort is not the server's fault, whatever its reason. Another breaker has counted what an open circuit
 * stands for.
 */
function isFailure(controller: DispatchController | null | undefined, error: Error): boolean {
  return controller?.aborted !== true && !(error instanceof CircuitOpenError) && isUpstreamFault(error)
}
