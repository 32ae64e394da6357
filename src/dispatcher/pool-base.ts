/**
 * What the pools for one origin share: their options, and the two ways in which their members get work. How a
 * pool behaves stands in crew.ts.
 */
import { type Origin, parseOrigin } from '../base/origin.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { EndReason } from '../request/end-reason.ts'
import { Request, type RequestHost } from '../request/request.ts'
import { clientWith, sessionIn } from './client.ts'
import { ClientCommons } from './client-commons.ts'
import { isForeignConnector, shareConnector } from './client-connector.ts'
import { type ClientOptions, type ClientSettings, readClientOptions } from './client-options.ts'
import type { RequestGiver } from './client-session.ts'
import { Crew, type CrewPlan, type Member, type Protocol } from './crew.ts'
import { HeldDispatch } from './held-dispatch.ts'
import { LifecycleDispatcher } from './lifecycle.ts'
import { type PoolFactory, type PoolOptions, readPoolOptions } from './pool-options.ts'
import type { PoolStats } from './stats.ts'

/** `first`: the oldest member that is free. `next`: the one that was used longest ago. */
export type Turn = 'first' | 'next'

type SharedPlan = Omit<CrewPlan<never>, 'hire' | 'forgets' | 'make' | 'give'>

export abstract class PoolBase extends LifecycleDispatcher {
  readonly #crew: Crew<Request> | Crew<HeldDispatch>
  readonly #origin: string

  constructor(url: string | URL | object, options: PoolOptions, turn: Turn) {
    if (options === null) throw new TypeError('options must not be null')
    const { connections, factory, clientTtl, clientOptions } = readPoolOptions(options)
    const settings = readClientOptions(clientOptions)
    const origin = parseOrigin(url)
    if ('problem' in origin) throw new InvalidArgumentError(origin.problem)
    super(clientOptions.webSocket)
    let uses = 0
    const plan: SharedPlan = {
      limit: connections,
      timeToLive: clientTtl,
      protocol: expectedProtocol(origin, settings),
      isForeign: isForeignConnector(settings),
      rank: turn === 'first' ? ({ order }) => order : () => ++uses,
    }
    this.#origin = origin.origin
    this.#crew =
      factory === null
        ? crewOfClients(this, plan, new ClientCommons(origin, settings, clientOptions.webSocket ?? null))
        : crewOfOthers(this, plan, origin, factory, { ...clientOptions, connect: shareConnector(settings) })
    this.#crew.url = origin.url
  }

  /** A snapshot of what there is to do. */
  get stats(): PoolStats {
    return this.#crew.stats
  }

  /** @internal */
  override composedOrigin(): string {
    return this.#origin
  }

  protected override accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    return this.#crew.accept(options, handler)
  }

  protected override get needsDrain(): boolean {
    return this.#crew.needsDrain
  }

  protected override finish(done: () => void): void {
    this.#crew.finish(done)
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#crew.terminate(reason, done)
  }
}

function expectedProtocol(origin: Origin, { allowH2, useH2c }: ClientSettings): Protocol {
  if (origin.protocol === 'https:') return allowH2 ? 'unknown' : 'h1'
  return useH2c ? 'h2' : 'h1'
}

/** Members are our own clients: a call is checked once, when it comes, and the request goes to one of them. */
function crewOfClients(pool: PoolBase, plan: SharedPlan, commons: ClientCommons): Crew<Request> {
  const desk: RequestHost & RequestGiver = {
    onRequestAborted: (request) => crew.onAborted(request),
    onRequestResumed: () => {},
    onHandlerError: (error) => crew.onHandlerError(error),
    takeBack: (requests) => {
      for (const request of requests) request.moveTo(desk)
      return crew.takeBack(requests)
    },
    onLimitKnown: () => crew.onLimitKnown(),
  }
  const crew: Crew<Request> = new Crew<Request>(pool, {
    ...plan,
    forgets: true,
    hire: () => {
      const client = clientWith(commons)
      sessionIn(client)!.giver = desk
      return client
    },
    make: (call, handler) => new Request(call, handler, commons.requestSetting, desk),
    give: (member, request) => member.session!.adopt(request),
  })
  return crew
}

/** Members are whatever the caller's factory makes. */
function crewOfOthers(
  pool: PoolBase,
  plan: SharedPlan,
  origin: Origin,
  factory: PoolFactory,
  options: ClientOptions,
): Crew<HeldDispatch> {
  const giver: RequestGiver = { takeBack: (requests) => requests, onLimitKnown: () => crew.onLimitKnown() }
  const crew: Crew<HeldDispatch> = new Crew<HeldDispatch>(pool, {
    ...plan,
    forgets: false,
    hire: () => {
      const dispatcher = factory(origin.url, options)
      const session = sessionIn(dispatcher)
      if (session !== null) session.giver = giver
      return dispatcher
    },
    make: (call, handler) => new HeldDispatch(call, handler, crew),
    give: (member: Member, held) => held.giveTo(member.dispatcher),
  })
  return crew
}
