/**
 * Metrics around the dispatchers of a chaos run: whatever happens, each request that began is measured once, none stays
 * active, and the connections are those that `connections()` has.
 */
import {
  type Client,
  type Dispatcher,
  type Interceptor,
  interceptors,
  type MeterLike,
} from '../../src/index.ts'

type Observer = Parameters<ReturnType<MeterLike['createObservableUpDownCounter']>['addCallback']>[0]
type Attributes = Parameters<ReturnType<MeterLike['createHistogram']>['record']>[1]

/** Adds up, by instrument and one attribute. */
class CountingMeter implements MeterLike {
  readonly counts = new Map<string, number>()
  readonly #observers = new Map<string, Observer>()

  createHistogram(name: string) {
    return { record: (value: number, attributes: Attributes) => this.#count(name, attributes, value, 1) }
  }

  createCounter(name: string) {
    return { add: (value: number, attributes: Attributes) => this.#count(name, attributes, value, value) }
  }

  createObservableUpDownCounter(name: string) {
    return { addCallback: (observer: Observer) => void this.#observers.set(name, observer) }
  }

  #count(name: string, attributes: Attributes, value: number, by: number): void {
    if (!(value >= 0)) throw new Error(`${name}: ${value}`)
    const key = `${name} ${attributes?.['scope']}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + by)
  }

  count(name: string, scope: string): number {
    return this.counts.get(`${name} ${scope}`) ?? 0
  }

  /** The sum of what an observable says, of the values with this attribute. */
  observed(name: string, attribute?: string, value?: string): number {
    let sum = 0
    this.#observers.get(name)?.({
      observe(observed, attributes) {
        if (attribute === undefined || attributes?.[attribute] === value) sum += observed
      },
    })
    return sum
  }
}

type Scope = 'call' | 'plain' | 'attempt'

export class Measured {
  readonly #meter = new CountingMeter()
  readonly #dispatchers: readonly (Dispatcher & Pick<Client, 'connections'>)[]
  readonly #problems: string[]
  readonly #begun: Record<Scope, number> = { call: 0, plain: 0, attempt: 0 }
  #connected = 0

  constructor(dispatchers: readonly (Dispatcher & Pick<Client, 'connections'>)[], problems: string[]) {
    this.#dispatchers = dispatchers
    this.#problems = problems
    for (const dispatcher of dispatchers) {
      dispatcher.on('connect', () => void this.#connected++)
      interceptors.metrics({ meter: this.#meter, connectionsOf: dispatcher })
    }
  }

  /** To be taken as one interceptor: what it begins with counts what is dispatched to it. */
  around(scope: Scope): Interceptor[] {
    const counting: Interceptor = (dispatch) => (opts, handler) => {
      this.#begun[scope]++
      return dispatch(opts, handler)
    }
    return [interceptors.metrics({ meter: this.#meter, attributes: { scope }, details: true }), counting]
  }

  /** While it runs. */
  inspect(): void {
    const rows = this.#dispatchers.flatMap((dispatcher) => dispatcher.connections())
    const [idle, active] = ['idle', 'active'].map((state) =>
      this.#meter.observed('http.client.open_connections', 'http.connection.state', state),
    )
    const isIdle = rows.filter(({ state }) => state === 'idle').length
    const isActive = rows.filter(({ state }) => state === 'active' || state === 'draining').length
    if (idle !== isIdle || active !== isActive)
      this.#problems.push(`metrics: ${idle} idle, ${active} active, not ${isIdle} and ${isActive}`)
    const running = this.#meter.observed('http.client.active_requests')
    const ended = ['call', 'plain', 'attempt'].reduce((sum, scope) => sum + this.#ended(scope as Scope), 0)
    const begun = this.#begun.call + this.#begun.plain + this.#begun.attempt
    if (running + ended !== begun)
      this.#problems.push(`metrics: ${running} active and ${ended} ended of ${begun} requests`)
  }

  #ended(scope: Scope): number {
    return this.#meter.count('http.client.request.duration', scope)
  }

  /** When everything has come to its end. */
  inspectEnd(): void {
    this.inspect()
    for (const scope of ['call', 'plain', 'attempt'] as const) {
      const [begun, ended] = [this.#begun[scope], this.#ended(scope)]
      if (begun !== ended) this.#problems.push(`metrics: ${ended} durations of ${begun} requests (${scope})`)
    }
    const active = this.#meter.observed('http.client.active_requests')
    if (active !== 0) this.#problems.push(`metrics: ${active} requests stay active`)
    const open = this.#meter.observed('http.client.open_connections')
    if (open !== 0) this.#problems.push(`metrics: ${open} connections stay open`)
    const closed = this.#meter.count('http.client.connection.duration', 'undefined')
    if (closed !== this.#connected)
      this.#problems.push(`metrics: ${closed} durations of ${this.#connected} connections`)
  }
}
