/**
 * What the pools for one origin share: their options, and the two kinds of members they can have. How a pool
 * behaves is in scheduler.ts.
 */

import type { Origin } from '../../base/address/origin.ts'
import { inCall, type PublicFunction } from '../../base/error/public-call.ts'
import { withoutRejection } from '../../base/loop/stray-promise.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { Request } from '../../request/request.ts'
import { checkedOrigin } from '../checked-origin.ts'
import { clientIn } from '../client.ts'
import { isForeignConnector, shareConnector } from '../client-connector.ts'
import { type ClientSettings, readClientOptions } from '../client-options.ts'
import type { ConnectionSnapshot } from '../connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { LifecycleDispatcher, reportIdle } from '../lifecycle.ts'
import { limitOf } from '../places/limit-options.ts'
import { OriginContext } from '../session/origin-context.ts'
import type { PoolStats } from '../stats.ts'
import { type PoolOptions, readPoolOptions } from './options.ts'
import type { PoolPolicy, Protocol } from './policy.ts'
import { QUEUED_DISPATCHES } from './queued-dispatch.ts'
import { PoolScheduler } from './scheduler.ts'

/** `first`: the oldest member that is free. `next`: the one that was used longest ago. */
export type Turn = 'first' | 'next'

export abstract class PoolBase extends LifecycleDispatcher {
  readonly #scheduler: PoolScheduler
  readonly #origin: string

  constructor(url: string | URL | object, options: PoolOptions, turn: Turn, called: PublicFunction) {
    if (options === null) throw new TypeError('options must not be null')
    const { pool, settings, origin } = inCall(called, () => {
      const pool = readPoolOptions(options)
      return { pool, settings: readClientOptions(pool.clientOptions), origin: checkedOrigin(url) }
    })
    const { connections, factory, clientTtl, clientOptions } = pool
    const { webSocket, eventSource } = ownMembers(clientOptions)
    super(webSocket, eventSource)
    this.#origin = origin.origin
    let uses = 0
    const growth = {
      limit: connections,
      timeToLive: clientTtl,
      protocol: expectedProtocol(origin, settings),
      isForeign: isForeignConnector(settings),
      ownsMembers: factory === null,
    }
    const rank: PoolPolicy['rank'] = turn === 'first' ? ({ order }) => order : () => ++uses
    let policy: PoolPolicy
    if (factory === null) {
      // A call is checked once, when it comes, and the request goes to one of the clients.
      const limit = limitOf(options)
      const context = inCall(called, () => new OriginContext(origin, settings, clientOptions, limit))
      const { places } = context
      policy = {
        growth: { ...growth, places, create: () => clientIn(context) },
        make: (call, handler, host) => new Request(call, handler, context.requestContext, host),
        give: ({ session }, work) => session!.adopt(work as Request),
        rank,
      }
    } else {
      const connect = inCall(called, () => shareConnector(settings))
      const memberOptions = { ...clientOptions, connect }
      const create = (): Dispatcher => withoutRejection(factory(origin.url, memberOptions))
      policy = { ...QUEUED_DISPATCHES, growth: { ...growth, places: null, create }, rank }
    }
    this.#scheduler = new PoolScheduler(this, origin.url, policy, () => reportIdle(this))
  }

  /** A snapshot of what there is to do. */
  get stats(): PoolStats {
    return this.#scheduler.stats
  }

  /** @internal */
  override composedOrigin(): string {
    return this.#origin
  }

  override connections(): ConnectionSnapshot[] {
    return this.#scheduler.connections
  }

  override retire(): void {
    this.#scheduler.retireConnections()
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    return this.#scheduler.accept(options, handler)
  }

  protected override get needsDrain(): boolean {
    return this.#scheduler.needsDrain
  }

  protected override finish(done: () => void): void {
    this.#scheduler.finish(done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#scheduler.terminate(reason, done)
  }
}

function expectedProtocol(origin: Origin, { allowH2, useH2c }: ClientSettings): Protocol {
  if (origin.protocol === 'https:') return allowH2 ? 'unknown' : 'h1'
  return useH2c ? 'h2' : 'h1'
}
