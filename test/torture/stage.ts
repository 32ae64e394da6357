/**
 * One run of a scenario, whatever carries it: a number for each event, the fault that is planned for one of
 * them, and the questions that are asked about the calls when all is over.
 */
import type { Client, ClientOptions, DispatchOptions, Pool } from '../../src/index.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Call, DispatchCall, type DispatchCallOptions } from './call.ts'
import { applies, type EventKind, type Fault, InjectedError, isInner, type Plan } from './fault.ts'
import type { Protocol, TortureOrigin } from './torture-origin.ts'

export interface StageEvent {
  readonly kind: EventKind
  readonly name: string
}

export interface Scenario {
  readonly name: string
  /** Those it makes sense over. */
  readonly protocols: readonly Protocol[]
  readonly options?: ClientOptions
  /** Connections of a pool; a client without. */
  readonly pool?: number
  /** Sockets come to belong to the caller, and so do the listeners on them. */
  readonly takesOver?: boolean
  /** It ends by time running out. */
  readonly expires?: boolean
  act(stage: Stage): void
}

export const CLIENT_OPTIONS: ClientOptions = {
  headersTimeout: 2_000,
  bodyTimeout: 2_000,
  keepAliveTimeout: 4_000,
}

/** Long enough for a dead HTTP/2 connection to be found out. */
const DETECTION_MS = 31_000

export abstract class Stage {
  abstract readonly dispatcher: Client | Pool
  abstract readonly url: string
  readonly protocol: Protocol
  readonly events: StageEvent[] = []
  /** Calls of our own code that may be made to throw. */
  readonly edges: string[] = []
  readonly calls: Call[] = []
  /** What the bodies of requests are in. */
  readonly memories = new Set<ArrayBuffer>()
  readonly origin: TortureOrigin
  protected readonly scenario: Scenario
  protected readonly problems: string[] = []
  protected readonly clock: FakeClock = new FakeClock()
  /** The faults that have come. */
  protected readonly done: Fault[] = []
  /** What of ours has thrown. */
  protected readonly broken: string[] = []
  /** What `close()` and `destroy()` have promised. */
  protected readonly endings: Promise<unknown>[] = []
  /** Changes with each event, also with those that have no number. */
  protected activity = 0
  /** The scenario is over; what follows has no numbers. */
  protected isPlayed = false
  readonly #plans: readonly Plan[]

  constructor(scenario: Scenario, protocol: Protocol, plans: readonly Plan[], origin: TortureOrigin) {
    this.scenario = scenario
    this.protocol = protocol
    this.#plans = plans
    this.origin = origin
  }

  /** Runs it to its end. Returns what was wrong. */
  abstract run(): Promise<string[]>

  /** The connection that is in use now dies, or hangs. */
  protected abstract strike(fault: 'fin' | 'rst' | 'stall'): void

  /** Lets everything happen that happens without time passing. */
  protected abstract calm(): Promise<void>

  /** Waits for what needs no time to pass; gives up when it does not come. */
  protected abstract waitFor(holds: () => boolean): Promise<void>

  /** Gives a request to the dispatcher, with a handler that the run watches. */
  dispatch(options: Partial<DispatchOptions>, how: DispatchCallOptions = {}): DispatchCall {
    const call = new DispatchCall(`${options.method ?? 'GET'} ${options.path}`, this.mark, how)
    this.calls.push(call)
    try {
      this.dispatcher.dispatch({ path: '/', method: 'GET', ...options }, call)
    } catch (error) {
      // A closed dispatcher tells the handler inside the call: what that throws comes back to the caller.
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

  /** Counts an event, and says what is to happen with it. */
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

  /** Calls of our own code are counted in the first run, and in those in which one of them throws. */
  protected get countsEdges(): boolean {
    return this.#plans.length === 0 || this.#plans.some(({ fault }) => isInner(fault))
  }

  /** Counts a call of our own code, and says whether it is to throw. */
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

  /** Moves the clock to the next timer; false when there is none. */
  protected nextTimer(): boolean {
    let due = Number.POSITIVE_INFINITY
    for (const timer of this.clock.active) due = Math.min(due, timer.due)
    if (due === Number.POSITIVE_INFINITY) return false
    this.mark('timer', `timer at ${due}`)
    this.clock.jump(due - this.clock.now)
    return true
  }

  /**
   * A connection is of no use any more, and nobody has said so. Over HTTP/2, bytes that come twice may look
   * like the beginning of a frame: only time tells that it never ends.
   */
  get #isDubious(): boolean {
    return this.done.includes('stall') || (this.protocol === 'h2' && this.done.includes('duplicate'))
  }

  /** Whatever has happened, the next request works; over real sockets, one of the next. */
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
    // A socket that throws instead of closing is waited for, for a while.
    while (stuck.size > 0 && this.broken.includes('socket.destroy') && this.nextTimer()) await this.calm()
    for (const name of stuck) this.problems.push(`${name} does not resolve`)
    if (stuck.size === 0) return
    this.dispatcher.destroy().catch(() => {})
    await this.calm()
  }

  /** What is asked of every run at its end. */
  protected inspect(): void {
    for (const call of this.calls) {
      // Who reads a piece twice reads something wrong, and cannot know.
      const garbled = this.done.includes('duplicate')
      for (const problem of call.problems()) {
        if (!(garbled && problem.includes('wrong body'))) this.problems.push(problem)
      }
      this.judge(call.name, call.error)
    }
    const { pending, running, size } = this.dispatcher.stats
    if (pending + running + size > 0) this.problems.push(`left: ${JSON.stringify(this.dispatcher.stats)}`)
    const delays = [...this.clock.active].map(({ delay }) => delay)
    if (delays.length > 0) this.problems.push(`timers left: ${delays.join()}`)
    this.#inspectRepeats()
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

  /** An error that reaches the caller is one that he can be expected to know. */
  protected judge(where: string, error: unknown): void {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (!isKnown(cause)) this.problems.push(`${where}: ${cause.stack}`)
    }
  }
}

/** Codes of the library, of its parser, of the system, and those of the runtime that the contract names. */
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
