/**
 * A chaos run, independent of its network. One random generator chooses each step: the origin's work, requests, aborts,
 * time, faults on the connections.
 */
import { Agent, Client, type ClientOptions, type Dispatcher, interceptors, Pool } from '../../src/index.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { repeatableStack } from '../support/interceptor-stack.ts'
import type { Protocol } from '../torture/torture-origin.ts'
import { Uncaught } from '../torture/uncaught.ts'
import { ChaosOrigin } from './chaos-origin.ts'
import { examine } from './examination.ts'
import { disagreement, finalDisagreement } from './listed-connections.ts'
import { Measured } from './measured.ts'
import { Random } from './random.ts'
import type { ChaosReport } from './report.ts'
import { Workload } from './workload.ts'

const STEPS = { deliver: 140, task: 40, issue: 14, abort: 2, time: 8, mischief: 1 } as const

const MISCHIEF = { fin: 3, rst: 3, stall: 2, pause: 3, restart: 1 } as const

export type Mischief = keyof typeof MISCHIEF

/** Maximum number of requests in flight. */
const MOST_OUTSTANDING = 24

/** The client's timeout for a head or the next piece of a body. */
const TIMEOUT = 1_000

/** Maximum delay of an answer: half of the late ones are too late. */
const PATIENCE = 2_000

/** Maximum downtime when the origin restarts. */
const RESTART_MS = 40

/** Timers that may fire until `connections()` has to agree with the server. */
const MOST_TIMERS_TO_AGREE = 200

/** Timers that may fire after all faults have ended: more indicate an endless loop. */
const MOST_TIMERS = 20_000

/** The dispatchers, and what requests go to: with metrics alone, and with other interceptors. */
interface Targets {
  readonly dispatchers: readonly (Client | Pool | Agent)[]
  readonly plain: readonly Dispatcher[]
  readonly stacked: readonly Dispatcher[]
}

export abstract class ChaosRun {
  protected abstract readonly wire: string
  protected abstract readonly url: string
  protected readonly random: Random
  protected readonly protocol: Protocol
  protected readonly origin: ChaosOrigin
  protected readonly clock: FakeClock = new FakeClock()
  protected readonly problems: string[] = []
  protected connections = 0
  /** A digest of all events, in order. */
  protected trace = 0
  readonly #requests: number
  readonly #tasks: (() => void)[] = []
  /** Turns of the event loop without an event. */
  #quiet = 0

  constructor(seed: number, requests: number, protocol: Protocol | null) {
    const random = new Random(seed)
    this.random = random
    this.#requests = requests
    this.protocol = protocol ?? random.pick(['h1', 'h2'])
    const schedule = {
      soon: (task: () => void) => void this.#tasks.push(task),
      after: (milliseconds: number, task: () => void) => void globalThis.setTimeout(task, milliseconds),
    }
    this.origin = new ChaosOrigin(this.protocol, random, schedule, PATIENCE)
  }

  /** Turns of the event loop without an event after which time may pass. */
  protected abstract readonly calmTurns: number
  protected abstract clientOptions(): ClientOptions
  /** Makes one delivery, if deliveries do not happen by themselves. */
  protected abstract deliver(): void
  /** Applies it to some connection; false if there is none. */
  protected abstract makeTrouble(what: Mischief): boolean
  protected abstract listen(on: boolean): void
  protected abstract inspectConnections(): void
  /** The connections that the server has, and that neither side has ended. */
  protected abstract readonly openConnections: number
  /** What stalls goes on: a server that hears nothing cannot know that a connection has ended. */
  protected abstract recover(): void

  protected async rampage(): Promise<ChaosReport> {
    const uncaught = new Uncaught()
    const restore = this.clock.enable()
    const workload = new Workload(this.random, this.url)
    const dispatchers = this.#makeDispatchers()
    const measured = new Measured(dispatchers, this.problems)
    const plain = dispatchers.map((dispatcher) => dispatcher.compose(measured.around('plain')))
    const stacked = dispatchers.map((dispatcher) =>
      dispatcher.compose([
        ...measured.around('attempt'),
        interceptors.circuitBreaker({ threshold: 0.9, minRequests: 50 }),
        ...repeatableStack(),
        ...measured.around('call'),
      ]),
    )
    try {
      await this.#rage(workload, { dispatchers, plain, stacked }, measured)
      await this.#calmDown(workload)
      await this.#compareConnections(dispatchers)
      await this.#close(dispatchers)
      this.problems.push(...examine(this.protocol, workload, this.origin))
      measured.inspectEnd()
      this.inspectConnections()
      this.#inspectTimers()
      for (const { error } of workload.calls) this.note(String(error))
    } catch (error) {
      this.problems.push(`the run broke: ${(error as Error).stack}`)
    } finally {
      restore()
      await turns(1)
      for (const error of uncaught.stop()) this.problems.push(`uncaught: ${(error as Error)?.stack ?? error}`)
    }
    const { calls } = workload
    return {
      seed: this.random.seed,
      wire: this.wire,
      requests: calls.length,
      succeeded: calls.filter(({ error, isSettled }) => isSettled && error === null).length,
      lost: calls.filter(({ isSettled }) => !isSettled).length,
      connections: this.connections,
      faults: this.origin.faults,
      trace: this.trace,
      problems: this.problems,
    }
  }

  /** Reports an event. */
  protected note(what: string): void {
    this.#quiet = 0
    for (let i = 0; i < what.length; i++) this.trace = Math.imul(this.trace ^ what.charCodeAt(i), 0x0100_0193)
  }

  #makeDispatchers(): (Client | Pool | Agent)[] {
    const { random, url } = this
    const options: ClientOptions = {
      ...this.clientOptions(),
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      pipelining: random.pick([1, 3, 6]),
      maxConcurrentStreams: random.pick([2, 100]),
      keepAliveTimeout: random.pick([300, 4_000]),
    }
    const all = [
      new Client(url, options),
      new Pool(url, { ...options, connections: random.between(1, 4) }),
      new Agent(options),
    ]
    for (const dispatcher of all)
      dispatcher.on('error', (error) => this.problems.push(`error event: ${error}`))
    return all
  }

  /** Everything at the same time, until all requests have been sent. */
  async #rage(workload: Workload, targets: Targets, measured: Measured): Promise<void> {
    while (workload.calls.length < this.#requests) {
      measured.inspect()
      this.#act(this.random.weighted(STEPS), workload, targets)
      await turns(1)
      if (++this.#quiet > this.calmTurns && workload.outstanding >= MOST_OUTSTANDING) this.#nextTimer()
    }
  }

  #act(step: keyof typeof STEPS, workload: Workload, { dispatchers, plain, stacked }: Targets): void {
    const { random, origin } = this
    switch (step) {
      case 'deliver':
        this.deliver()
        return
      case 'task':
        this.#doTask()
        return
      case 'issue':
        if (workload.outstanding >= MOST_OUTSTANDING) return
        this.note('issue')
        this.#compareStats(dispatchers)
        if (random.oneIn(3)) workload.issue(random.pick(stacked), true)
        else workload.issue(random.pick(plain), false)
        return
      case 'abort':
        if (workload.abortOne()) origin.count('abort')
        return
      case 'time':
        this.clock.jump(random.between(1, 10))
        return
      case 'mischief':
        this.#doMischief(random.weighted(MISCHIEF))
    }
  }

  #doTask(): void {
    if (this.#tasks.length === 0) return
    this.note('task')
    this.#tasks.splice(this.random.below(this.#tasks.length), 1)[0]!()
  }

  #doMischief(what: Mischief): void {
    if (!this.makeTrouble(what)) return
    this.note(what)
    this.origin.count(`connection: ${what}`)
    if (what !== 'restart') return
    this.listen(false)
    globalThis.setTimeout(() => this.listen(true), this.random.between(1, RESTART_MS))
  }

  /** How long a connection stalls, unless it stalls permanently. */
  protected pauseTime(): number {
    return this.random.between(1, PATIENCE)
  }

  #nextTimer(): boolean {
    let due = Number.POSITIVE_INFINITY
    for (const timer of this.clock.active) due = Math.min(due, timer.due)
    if (due === Number.POSITIVE_INFINITY) return false
    this.note(`timer ${due}`)
    this.clock.jump(due - this.clock.now)
    return true
  }

  /** Lets everything happen that needs neither faults nor time; `enough` ends it early. */
  async #quieten(enough: () => boolean = () => false): Promise<void> {
    for (this.#quiet = 0; this.#quiet <= this.calmTurns && !enough(); this.#quiet++) {
      this.deliver()
      this.#doTask()
      await turns(1)
    }
  }

  /** No more faults: everything in flight finishes. */
  async #calmDown(workload: Workload): Promise<void> {
    this.origin.behaves = true
    for (let timers = 0; workload.outstanding > 0 && timers < MOST_TIMERS; timers++) {
      await this.#quieten(() => workload.outstanding === 0)
      if (workload.outstanding > 0 && !this.#nextTimer()) return
    }
  }

  #compareStats(dispatchers: readonly (Client | Pool | Agent)[]): void {
    for (const dispatcher of dispatchers) {
      const problem = disagreement(dispatcher)
      if (problem !== null) this.problems.push(problem)
    }
  }

  /** Without faults, what is listed, what is counted and what the server has become the same. */
  async #compareConnections(dispatchers: readonly (Client | Pool | Agent)[]): Promise<void> {
    this.recover()
    let problem: string | null = null
    for (let timers = 0; timers < MOST_TIMERS_TO_AGREE; timers++) {
      const find = (): string | null => finalDisagreement(dispatchers, this.openConnections)
      await this.#quieten(() => find() === null)
      problem = find()
      if (problem === null || !this.#nextTimer()) break
    }
    if (problem !== null) this.problems.push(problem)
  }

  async #close(dispatchers: readonly (Client | Pool | Agent)[]): Promise<void> {
    let left = dispatchers.length
    for (const dispatcher of dispatchers) {
      dispatcher.close().then(
        () => {
          left--
        },
        (error) => this.problems.push(`close() rejects: ${error}`),
      )
    }
    await this.#quieten()
    // Unread bodies may still be arriving, and end in time.
    for (let timers = 0; left > 0 && timers < MOST_TIMERS && this.#nextTimer(); timers++)
      await this.#quieten()
    if (left > 0) this.problems.push(`${left} calls of close() have not come to their end`)
    for (const dispatcher of dispatchers) dispatcher.destroy().catch(() => {})
    await this.#quieten()
    const rows = dispatchers.flatMap((dispatcher) => dispatcher.connections())
    if (rows.length > 0) this.problems.push(`still listed: ${JSON.stringify(rows)}`)
  }

  /** The origin's own timers expire; those of the client must have been cleared. */
  #inspectTimers(): void {
    const { active } = this.clock
    for (let rounds = 0; active.size > 0 && rounds < 100; rounds++) this.clock.jump(PATIENCE)
    if (active.size > 0) this.problems.push(`${active.size} timers do not end`)
  }
}
