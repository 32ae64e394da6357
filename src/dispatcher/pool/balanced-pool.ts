/**
 * Requests spread over several origins that serve the same. The upstream for the next one is chosen by
 * weighted turns (`weighted-turns.ts`); this file keeps the upstreams and their weights, which failures lower
 * and connections raise.
 */

import { inCall } from '../../base/error/public-call.ts'
import { withoutRejection } from '../../base/loop/stray-promise.ts'
import { defineKind } from '../../base/object/kind.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import { BalancedPoolMissingUpstreamError } from '../../errors.ts'
import { readOption } from '../../options.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { type EndReason, endReason } from '../../request/end-reason.ts'
import { reportedEnd } from '../../request/foreign-error.ts'
import { checkedOrigin } from '../checked-origin.ts'
import type { ClientOptions } from '../client-options.ts'
import type { ConnectionSnapshot } from '../connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { LifecycleDispatcher, reportIdle } from '../lifecycle.ts'
import type { PoolStats } from '../stats.ts'
import type { Member } from './member.ts'
import { FACTORY, type PoolOptions } from './options.ts'
import type { PoolPolicy } from './policy.ts'
import { Pool } from './pool.ts'
import { QUEUED_DISPATCHES } from './queued-dispatch.ts'
import { PoolScheduler } from './scheduler.ts'
import { type Weighted, WeightedTurns } from './weighted-turns.ts'

/** Makes the dispatcher for one upstream; gets the balanced pool's own options. */
export type UpstreamFactory = (origin: URL, options: Omit<PoolOptions, 'factory'>) => Dispatcher

/** Options of `BalancedPool`. */
export interface BalancedPoolOptions extends ClientOptions, Pick<PoolOptions, 'connections' | 'clientTtl'> {
  /** Makes the dispatcher for an upstream. Default: a `Pool`. */
  factory?: UpstreamFactory | null | undefined
  /** The weight of an upstream without failures. Default: 100. */
  maxWeightPerServer?: number | null | undefined
  /** What a failure takes from the weight, and a success gives back. Default: 15. */
  errorPenalty?: number | null | undefined
}

const DEFAULT_WEIGHT = 100
const DEFAULT_PENALTY = 15

/** One of the origins. */
class Upstream implements Weighted {
  readonly origin: string
  readonly member: Member
  weight: number

  constructor(origin: string, member: Member, weight: number) {
    this.origin = origin
    this.member = member
    this.weight = weight
  }

  /** The caller has its dispatcher, from the factory or `getUpstream`, and may have closed it. */
  get isOpen(): boolean {
    const { closed, destroyed } = this.member.dispatcher as { closed?: unknown; destroyed?: unknown }
    return closed !== true && destroyed !== true
  }

  get isReady(): boolean {
    return this.member.isFree && this.isOpen
  }
}

/**
 * Requests spread over several origins that serve the same; those that fail get fewer.
 *
 * @example
 * const pool = new BalancedPool(['http://a.internal', 'http://b.internal'])
 * const { statusCode } = await pool.request({ path: '/', method: 'GET' })
 */
export class BalancedPool extends LifecycleDispatcher {
  readonly #scheduler: PoolScheduler
  readonly #factory: UpstreamFactory
  readonly #poolOptions: Omit<PoolOptions, 'factory'>
  readonly #maxWeight: number
  readonly #penalty: number
  readonly #turns: WeightedTurns<Upstream>

  /** @param upstreams Origins of the servers; more can be added later. */
  constructor(
    upstreams: readonly (string | URL | object)[] | string | URL | object = [],
    options: BalancedPoolOptions = {},
  ) {
    if (options === null) throw new TypeError('options must not be null')
    const { factory, maxWeightPerServer, errorPenalty, ...poolOptions }: BalancedPoolOptions = Object.assign(
      Object.create(null),
      options,
    )
    inCall(BalancedPool, () => readOption('factory', factory, FACTORY))
    const { webSocket, eventSource } = ownMembers(poolOptions)
    super(webSocket, eventSource)
    this.#factory = factory ?? ((origin, opts) => new Pool(origin, opts))
    this.#poolOptions = { ...poolOptions }
    this.#maxWeight = maxWeightPerServer || DEFAULT_WEIGHT
    this.#penalty = errorPenalty || DEFAULT_PENALTY
    this.#turns = new WeightedTurns(this.#maxWeight)
    const policy: PoolPolicy = {
      ...QUEUED_DISPATCHES,
      growth: null,
      rank: ({ rank }) => rank,
      choose: () => this.#choose(),
    }
    this.#scheduler = new PoolScheduler(this, null, policy, () => reportIdle(this))
    inCall(BalancedPool, () => {
      for (const upstream of Array.isArray(upstreams) ? upstreams : [upstreams]) this.addUpstream(upstream)
    })
  }

  /** A snapshot of what there is to do. */
  get stats(): PoolStats {
    return this.#scheduler.stats
  }

  /** The origins requests go to. */
  get upstreams(): string[] {
    return this.#turns.line.filter(({ isOpen }) => isOpen).map(({ origin }) => origin)
  }

  /** Requests go to this origin, too, from now on. */
  addUpstream(upstream: string | URL | object): this {
    const { origin, url } = checkedOrigin(upstream)
    if (this.#find(origin) !== null) return this
    const dispatcher = withoutRejection(this.#factory(url, { ...this.#poolOptions }))
    const entry = new Upstream(origin, this.#scheduler.add(dispatcher), this.#maxWeight)
    this.#turns.join(entry)
    dispatcher.on('connect', () => this.#turns.raise(entry, this.#penalty))
    dispatcher.on('connectionError', () => this.#turns.lower(entry, this.#penalty))
    dispatcher.on('disconnect', (_origin: URL, _targets: unknown, error: unknown) => {
      if (reportedEnd(error) === 'lost') this.#turns.lower(entry, this.#penalty)
    })
    return this
  }

  /** No new requests go to this origin; those that run there are finished. */
  removeUpstream(upstream: string | URL | object): this {
    const entry = this.#find(checkedOrigin(upstream).origin)
    if (entry === null) return this
    this.#turns.leave(entry)
    this.#scheduler.retire(entry.member)
    if (this.#turns.line.length === 0) this.#failWaiting()
    return this
  }

  /** The dispatcher for this origin; undefined also when it has been closed. */
  getUpstream(upstream: string | URL | object): Dispatcher | undefined {
    return this.#find(checkedOrigin(upstream).origin)?.member.dispatcher
  }

  #find(origin: string): Upstream | null {
    return this.#turns.line.find((entry) => entry.origin === origin && entry.isOpen) ?? null
  }

  /** @internal */
  override composedOrigin(): null {
    return null
  }

  override connections(): ConnectionSnapshot[] {
    return this.#scheduler.connections
  }

  override retire(): void {
    this.#scheduler.retireConnections()
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    if (!this.#turns.line.some(({ isOpen }) => isOpen)) throw new BalancedPoolMissingUpstreamError()
    return this.#scheduler.accept(options, handler)
  }

  #choose(): Member | null {
    const chosen = this.#turns.next()
    if (chosen !== null) return chosen.member
    // No upstream is left to wait for.
    if (!this.#turns.line.some(({ isOpen }) => isOpen)) this.#failWaiting()
    return null
  }

  #failWaiting(): void {
    this.#scheduler.failWaiting(endReason('unreachable', new BalancedPoolMissingUpstreamError()))
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

defineKind(BalancedPool, 'ventuno.BalancedPool')

/** The types under the names that programs written for undici use. */
export declare namespace BalancedPool {
  export type { BalancedPoolOptions as Options }
}
