/**
 * What the pools for one origin share: their options, and the two kinds of members they can have. How a pool behaves is in
 * scheduler.ts.
 */

import { type Origin, parseOrigin } from '../../base/address/origin.ts'
import { withoutRejection } from '../../base/loop/stray-promise.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { Request, type RequestHost } from '../../request/request.ts'
import { clientIn } from '../client.ts'
import { isForeignConnector, shareConnector } from '../client-connector.ts'
import { type ClientSettings, readClientOptions } from '../client-options.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { LifecycleDispatcher, reportIdle } from '../lifecycle.ts'
import { OriginContext } from '../session/origin-context.ts'
import type { PoolStats } from '../stats.ts'
import { type PoolOptions, readPoolOptions } from './options.ts'
import type { GrowthPolicy, PoolPolicy, Protocol } from './policy.ts'
import { QueuedDispatch } from './queued-dispatch.ts'
import { PoolScheduler } from './scheduler.ts'

/** `first`: the oldest member that is free. `next`: the one that was used longest ago. */
export type Turn = 'first' | 'next'

type Growth = Omit<GrowthPolicy, 'source'>
type Rank = PoolPolicy<never>['rank']

export abstract class PoolBase extends LifecycleDispatcher {
  readonly #scheduler: PoolScheduler<Request> | PoolScheduler<QueuedDispatch>
  readonly #origin: string

  constructor(url: string | URL | object, options: PoolOptions, turn: Turn) {
    if (options === null) throw new TypeError('options must not be null')
    const { connections, factory, clientTtl, clientOptions } = readPoolOptions(options)
    const settings = readClientOptions(clientOptions)
    const origin = parseOrigin(url)
    if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
    const { webSocket, eventSource } = ownMembers(clientOptions)
    super(webSocket, eventSource)
    let uses = 0
    const rank: Rank = turn === 'first' ? ({ order }) => order : () => ++uses
    const growth: Growth = {
      limit: connections,
      timeToLive: clientTtl,
      protocol: expectedProtocol(origin, settings),
      isForeign: isForeignConnector(settings),
    }
    const onIdle = (): void => reportIdle(this)
    this.#origin = origin.origin
    if (factory === null) {
      const context = new OriginContext(origin, settings, clientOptions)
      this.#scheduler = scheduleClients(this, growth, rank, context, onIdle)
    } else {
      const memberOptions = { ...clientOptions, connect: shareConnector(settings) }
      const create = (): Dispatcher => withoutRejection(factory(origin.url, memberOptions))
      this.#scheduler = scheduleOthers(this, growth, rank, origin.url, create, onIdle)
    }
  }

  /** A snapshot of what there is to do. */
  get stats(): PoolStats {
    return this.#scheduler.stats
  }

  /** @internal */
  override composedOrigin(): string {
    return this.#origin
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

/** Members are our own clients: a call is checked once, when it comes, and the request goes to one of them. */
function scheduleClients(
  pool: PoolBase,
  growth: Growth,
  rank: Rank,
  context: OriginContext,
  onIdle: () => void,
): PoolScheduler<Request> {
  /** Holds the requests that wait for a member. */
  const queueHost: RequestHost = {
    onRequestAborted: (request) => scheduler.onAborted(request),
    onRequestResumed: () => {},
    onHandlerError: (error) => scheduler.onHandlerError(error),
  }
  const reclaim = (requests: readonly Request[]): readonly Request[] => {
    for (const request of requests) request.moveTo(queueHost)
    return scheduler.takeBack(requests)
  }
  const policy: PoolPolicy<Request> = {
    growth: { ...growth, source: { kind: 'clients', create: () => clientIn(context), reclaim } },
    make: (call, handler) => new Request(call, handler, context.requestContext, queueHost),
    give: (member, request) => member.session!.adopt(request),
    rank,
  }
  const scheduler: PoolScheduler<Request> = new PoolScheduler(pool, context.origin.url, policy, onIdle)
  return scheduler
}

/** Members are whatever the caller's factory makes. */
function scheduleOthers(
  pool: PoolBase,
  growth: Growth,
  rank: Rank,
  url: URL,
  create: () => Dispatcher,
  onIdle: () => void,
): PoolScheduler<QueuedDispatch> {
  const policy: PoolPolicy<QueuedDispatch> = {
    growth: { ...growth, source: { kind: 'factory', create } },
    make: (call, handler) => new QueuedDispatch(call, handler, scheduler),
    give: ({ dispatcher }, queued) => queued.giveTo(dispatcher),
    rank,
  }
  const scheduler: PoolScheduler<QueuedDispatch> = new PoolScheduler(pool, url, policy, onIdle)
  return scheduler
}
