/**
 * One run of a scenario, independent of its network: a number for each event, the fault that is planned for one of
 * them, and the checks of all calls at the end.
 */
import { Readable } from 'node:stream'
import {
  type Client,
  type ClientOptions,
  type Dispatcher,
  type DispatchOptions,
  interceptors,
  type Pool,
} from '../../src/index.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { repeatableStack } from '../support/interceptor-stack.ts'
import { type Call, DispatchCall, type DispatchCallOptions } from './call.ts'
import { applies, type EventKind, type Fault, InjectedError, isInner, type Plan } from './fault.ts'
import type { Protocol, TortureOrigin } from './torture-origin.ts'

export interface StageEvent {
  readonly kind: EventKind
  readonly name: string
}

export interface Scenario {
  readonly name: string
  /** The wires on which it makes sense. */
  readonly protocols: readonly Protocol[]
  readonly options?: ClientOptions
  /** Connections of a pool; without it, a client is used. */
  readonly pool?: number
  /** The calls go through interceptors. */
  readonly stack?: boolean
  /** A guard allows the calls: that of the connector where there are sockets, and the interceptor. */
  readonly guard?: boolean
  /** Sockets are handed over to the caller, together with the listeners on them. */
  readonly takesOver?: boolean
  /** It ends with a timeout. */
  readonly expires?: boolean
  /** It waits for a time limit each time, so it needs a fake clock. */
  readonly waits?: boolean
  act(stage: Stage): void
}

export const CLIENT_OPTIONS: ClientOptions = {
  headersTimeout: 2_000,
  bodyTimeout: 2_000,
  keepAliveTimeout: 4_000,
}

/** Long enough to detect a dead HTTP/2 connection. */
const DETECTION_MS = 31_000

export abstract class Stage {
  abstract readonly dispatcher: Client | Pool
  abstract readonly url: string
  readonly protocol: Protocol
  readonly events: StageEvent[] = []
  /** Internal calls that may be made to throw. */
  readonly edges: string[] = []
  readonly calls: Call[] = []
  /** The memory of request bodies. */
  readonly memories = new Set<ArrayBuffer>()
  /** The streams of request bodies. */
  readonly sources = new Set<Readable>()
  readonly origin: TortureOrigin
  protected readonly scenario: Scenario
  protected readonly problems: string[] = []
  protected readonly clock: FakeClock = new FakeClock()
  /** The faults that were injected. */
  protected readonly done: Fault[] = []
  /** The internal functions that have thrown. */
  protected readonly broken: string[] = []
  /** The promises of `close()` and `destroy()`. */
  protected readonly endings: Promise<unknown>[] = []
  /** Changes with each event, including events without a number. */
  activity = 0
  /** The scenario is over; later events have no numbers. */
  protected isPlayed = false
  readonly #plans: readonly Plan[]
  #stacked: Dispatcher | null = null

  constructor(scenario: Scenario, protocol: Protocol, plans: readonly Plan[], origin: TortureOrigin) {
    this.scenario = scenario
    this.protocol = protocol
    this.#plans = plans
    this.origin = origin
  }

  /** The dispatcher of the calls. */
  get entry(): Dispatcher {
    const { stack, guard } = this.scenario
    if (!stack && !guard) return this.dispatcher
    const { hostname } = new URL(this.url)
    this.#stacked ??= this.dispatcher.compose([
      guard ? interceptors.guard({ allow: [hostname] }) : null,
      ...(stack ? repeatableStack() : []),
    ])
    return this.#stacked
  }

  /** Runs the scenario to its end. Returns the problems. */
  abstract run(): Promise<string[]>

  /** The current connection dies or hangs. */
  protected abstract strike(fault: 'fin' | 'rst' | 'stall'): void

  /** Lets everything happen that does not need time to pass. */
  protected abstract calm(): Promise<void>

  /** Waits for something that does not need time to pass; gives up if it does not happen. */
  protected abstract waitFor(holds: () => boolean): Promise<void>

  /** Passes a request to the dispatcher, with a handler that the run observes. */
  dispatch(options: Partial<DispatchOptions>, how: DispatchCallOptions = {}): DispatchCall {
    const call = new DispatchCall(`${options.method ?? 'GET'} ${options.path}`, this.mark, how)
    this.calls.push(call)
    if (options.body instanceof Readable) this.sources.add(options.body)
    try {
      this.entry.dispatch({ path: '/', method: 'GET', ...options }, call)
    } catch (error) {
      // A closed dispatcher calls the handler inside `dispatch()`: an exception there reaches the caller.
      if (!(error instanceof InjectedError)) throw error
    }
    return call
  }

  add<C extends Call>(call: C): C {
    this.calls.push(call)
    return call
  }

  readonly mark = (kind: EventKind, name: string): void => {
    const fault = this.number(kind, name)
    if (fault === 'throw') throw new InjectedError(`thrown in ${name}`)
    if (fault === 'fin' || fault === 'rst' || fault === 'stall') this.strike(fault)
    else if (fault !== null) this.interfere(fault)
  }

  /** Counts an event and returns the fault planned for it. */
  protected number(kind: EventKind, name: string): Fault | null {
    this.activity++
    if (this.isPlayed) return null
    const at = this.events.length
    this.events.push({ kind, name })
    const plan = this.#plans.find((candidate) => !isInner(candidate.fault) && candidate.at === at)
    if (plan === undefined || !applies(plan.fault, kind)) return null
    this.done.push(plan.fault)
    return plan.fault
  }

  /** Internal calls are counted in the first run, and in runs in which one of them throws. */
  protected get countsEdges(): boolean {
    return this.#plans.length === 0 || this.#plans.some(({ fault }) => isInner(fault))
  }

  /** Counts an internal call and returns whether it is to throw. */
  readonly markEdge = (name: string): 'before' | 'after' | null => {
    if (this.isPlayed) return null
    const at = this.edges.push(name) - 1
    const plan = this.#plans.find((candidate) => isInner(candidate.fault) && candidate.at === at)
    if (plan === undefined) return null
    this.done.push(plan.fault)
    this.broken.push(name)
    return plan.fault === 'break before' ? 'before' : 'after'
  }

  protected interfere(fault: Fault): void {
    if (fault === 'abort') for (const call of [...this.calls]) call.abort()
    if (fault === 'abort last') this.calls.findLast(({ isSettled }) => !isSettled)?.abort()
    if (fault === 'take memory') this.#takeMemory()
    if (fault === 'destroy source') for (const source of this.sources) source.destroy()
    if (fault === 'retire') this.dispatcher.retire()
    if (fault === 'close') this.endings.push(this.dispatcher.close().catch(() => {}))
    if (fault === 'destroy') this.endings.push(this.dispatcher.destroy())
  }

  #takeMemory(): void {
    for (const memory of this.memories) structuredClone(memory, { transfer: [memory] })
    this.memories.clear()
  }

  protected get isSettled(): boolean {
    return this.calls.every(({ isSettled }) => isSettled)
  }

  /** Moves the clock to the next timer; false if there is none. */
  protected nextTimer(): boolean {
    let due = Number.POSITIVE_INFINITY
    for (const timer of this.clock.active) due = Math.min(due, timer.due)
    if (due === Number.POSITIVE_INFINITY) return false
    this.mark('timer', `timer at ${due}`)
    this.clock.jump(due - this.clock.now)
    return true
  }

  /**
   * A connection is useless without any notice. Over HTTP/2, duplicated bytes may look like the beginning of a frame:
   * only a timeout reveals that it never ends.
   */
  get #isDubious(): boolean {
    return this.done.includes('stall') || (this.protocol === 'h2' && this.done.includes('duplicate'))
  }

  /** Whatever has happened, the next request works; over real sockets, one of the next ones. */
  protected async probe(tries: number): Promise<void> {
    const end = this.clock.now + DETECTION_MS
    while (this.#isDubious && this.clock.now < end && this.nextTimer()) await this.calm()
    const call = new DispatchCall('probe', () => void this.activity++, { body: '/probe' })
    this.dispatcher.dispatch({ path: '/probe', method: 'GET' }, call)
    await this.waitFor(() => call.isSettled)
    this.problems.push(...call.problems())
    if (this.done.includes('close') || this.done.includes('destroy')) {
      const { code } = (call.error ?? {}) as { code?: string }
      if (code !== 'UND_ERR_CLOSED' && code !== 'UND_ERR_DESTROYED') this.problems.push('it is not closed')
    } else if (!call.isComplete && call.isSettled && tries > 1) {
      await this.probe(tries - 1)
    } else if (!call.isComplete) {
      this.problems.push(`the next request fails: ${call.calls.join(' ')} ${call.error}`)
    }
  }

  protected async close(): Promise<void> {
    const stuck = new Set(['close()', ...this.endings.map((_, index) => `ending ${index}`)])
    const closing = this.dispatcher.close().catch((error: Error & { code?: string }) => {
      if (error.code !== 'UND_ERR_DESTROYED') this.problems.push(`close() rejects: ${error}`)
    })
    const note = (name: string): void => {
      stuck.delete(name)
      this.activity++
    }
    closing.then(() => note('close()'))
    for (const [index, promise] of this.endings.entries()) promise.then(() => note(`ending ${index}`))
    await this.waitFor(() => stuck.size === 0)
    // The dispatcher waits a while for a socket that throws instead of closing.
    while (stuck.size > 0 && this.broken.includes('socket.destroy') && this.nextTimer()) await this.calm()
    for (const name of stuck) this.problems.push(`${name} does not resolve`)
    if (stuck.size === 0) return
    this.dispatcher.destroy().catch(() => {})
    await this.calm()
  }

  /** The checks at the end of every run. */
  protected inspect(): void {
    for (const call of this.calls) {
      // A reader of a duplicated piece gets wrong data and cannot detect it.
      const garbled = this.done.includes('duplicate')
      for (const problem of call.problems()) {
        if (!(garbled && problem.includes('wrong body'))) this.problems.push(problem)
      }
      this.judge(call.name, call.error)
    }
    const { pending, running, size } = this.dispatcher.stats
    if (pending + running + size > 0) this.problems.push(`left: ${JSON.stringify(this.dispatcher.stats)}`)
    this.origin.stop()
    const delays = [...this.clock.active].map(({ delay }) => delay)
    if (delays.length > 0) this.problems.push(`timers left: ${delays.join()}`)
    this.#inspectRepeats()
    // A connection that hangs or cannot be closed tells its server nothing, and a garbled head may belong to a body that
    // is wanted.
    if (this.done.includes('stall') || this.done.includes('duplicate')) return
    if (this.broken.includes('socket.destroy')) return
    for (const path of this.origin.trickled) this.problems.push(`${path} was not given up`)
  }

  /** Nothing that may have an effect is sent twice, unless its server has refused it. */
  #inspectRepeats(): void {
    const seen = new Set<string>()
    for (const line of this.origin.seen) {
      if (/^(GET|HEAD) /.test(line) || line.includes('refuse-once')) continue
      if (seen.has(line)) this.problems.push(`${line} was sent again`)
      seen.add(line)
    }
  }

  /** An error that reaches the caller has a documented code. */
  protected judge(where: string, error: unknown): void {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (!isKnown(cause)) this.problems.push(`${where}: ${cause.stack}`)
    }
  }
}

/** Codes of the library, of its parser, of the system, and the documented codes of the runtime. */
const KNOWN = /^(UND_ERR|HPE_|ECONN|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2|ERR_SSL|EPROTO)/

function isKnown(error: Error): boolean {
  const { code } = error as { code?: unknown }
  return (
    error instanceof InjectedError ||
    error.name === 'AbortError' ||
    ['fetch failed', 'terminated'].includes(error.message) ||
    (typeof code === 'string' && KNOWN.test(code))
  )
}
