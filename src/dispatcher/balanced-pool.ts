/**
 * Requests spread over several origins that serve the same (contract: fetch.md 5).
 *
 * Turns are taken by stride: each upstream moves on by the inverse of its weight when it is used, and the one
 * that is least far gets the next request. So the shares follow the weights, and choosing costs the same
 * however many upstreams there are.
 */
import { defineKind } from '../base/kind.ts'
import { type Origin, parseOrigin } from '../base/origin.ts'
import { BalancedPoolMissingUpstreamError, InvalidArgumentError } from '../errors.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { ClientOptions } from './client-options.ts'
import { Crew, type Member } from './crew.ts'
import type { Dispatcher } from './dispatcher.ts'
import { HeldDispatch } from './held-dispatch.ts'
import { LifecycleDispatcher } from './lifecycle.ts'
import { Pool } from './pool.ts'
import type { PoolOptions } from './pool-options.ts'
import type { PoolStats } from './stats.ts'

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

interface Upstream {
  readonly member: Member
  weight: number
}

/**
 * Requests spread over several origins that serve the same; those that fail get fewer.
 *
 * @example
 * const pool = new BalancedPool(['http://a.internal', 'http://b.internal'])
 * const { statusCode } = await pool.request({ path: '/', method: 'GET' })
 */
export class BalancedPool extends LifecycleDispatcher {
  static {
    defineKind(BalancedPool, 'ventuno.BalancedPool')
  }

  readonly #crew: Crew<HeldDispatch>
  readonly #factory: UpstreamFactory
  readonly #poolOptions: Omit<PoolOptions, 'factory'>
  readonly #maxWeight: number
  readonly #penalty: number
  /** By origin. */
  readonly #upstreams = new Map<string, Upstream>()
  readonly #weights = new WeakMap<Member, Upstream>()
  /** How far the one that was used last has come. */
  #reached = 0

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
    if (factory !== null && factory !== undefined && typeof factory !== 'function') {
      throw new InvalidArgumentError('factory must be a function.')
    }
    super(poolOptions.webSocket)
    this.#factory = factory ?? ((origin, opts) => new Pool(origin, opts))
    this.#poolOptions = { ...poolOptions }
    this.#maxWeight = maxWeightPerServer || DEFAULT_WEIGHT
    this.#penalty = errorPenalty || DEFAULT_PENALTY
    const crew: Crew<HeldDispatch> = new Crew<HeldDispatch>(this, {
      limit: 0,
      timeToLive: null,
      protocol: 'h1',
      verbatim: false,
      hire: null,
      make: (call, handler) => new HeldDispatch(call, handler, crew),
      give: (member, held) => held.giveTo(member.dispatcher),
      rank: (member) => this.#advance(member),
    })
    this.#crew = crew
    for (const upstream of Array.isArray(upstreams) ? upstreams : [upstreams]) this.addUpstream(upstream)
  }

  /** A snapshot of what there is to do. */
  get stats(): PoolStats {
    return this.#crew.stats
  }

  /** The origins requests go to. */
  get upstreams(): string[] {
    return [...this.#upstreams.keys()]
  }

  /** Requests go to this origin, too, from now on. */
  addUpstream(upstream: string | URL | object): this {
    const origin = originOf(upstream)
    if (this.#upstreams.has(origin.origin)) return this
    const dispatcher = this.#factory(origin.url, { ...this.#poolOptions })
    const entry: Upstream = { member: this.#crew.join(dispatcher, this.#reached), weight: this.#maxWeight }
    this.#upstreams.set(origin.origin, entry)
    this.#weights.set(entry.member, entry)
    dispatcher.on('connect', () => {
      entry.weight = Math.min(this.#maxWeight, entry.weight + this.#penalty)
    })
    dispatcher.on('connectionError', () => this.#penalise(entry))
    dispatcher.on(
      'disconnect',
      (_origin: URL, _targets: unknown, error: NodeJS.ErrnoException | undefined) => {
        if (error?.code === 'UND_ERR_SOCKET') this.#penalise(entry)
      },
    )
    return this
  }

  /** No new requests go to this origin; those that run there are finished. */
  removeUpstream(upstream: string | URL | object): this {
    const { origin } = originOf(upstream)
    const entry = this.#upstreams.get(origin)
    if (entry === undefined) return this
    this.#upstreams.delete(origin)
    this.#crew.dismiss(entry.member)
    if (this.#upstreams.size === 0) {
      this.#crew.failWaiting(new BalancedPoolMissingUpstreamError(), false)
    }
    return this
  }

  /** The dispatcher for this origin. */
  getUpstream(upstream: string | URL | object): Dispatcher | undefined {
    return this.#upstreams.get(originOf(upstream).origin)?.member.dispatcher
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    if (this.#upstreams.size === 0) throw new BalancedPoolMissingUpstreamError()
    return this.#crew.accept(options, handler)
  }

  protected override finish(done: () => void): void {
    this.#crew.finish(done)
  }

  protected override terminate(reason: Error, verbatim: boolean, done: () => void): void {
    this.#crew.terminate(reason, verbatim, done)
  }

  #advance(member: Member): number {
    // One that was away or is new starts from where the others are: it has nothing to catch up on.
    this.#reached = Math.max(this.#reached, member.rank)
    return this.#reached + 1 / this.#weights.get(member)!.weight
  }

  #penalise(entry: Upstream): void {
    entry.weight = Math.max(1, entry.weight - this.#penalty)
  }
}

function originOf(upstream: string | URL | object): Origin {
  const origin = parseOrigin(upstream)
  if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
  return origin
}

/** The types under the names that programs written for undici use. */
export declare namespace BalancedPool {
  type Options = BalancedPoolOptions
}
