/**
 * Sends one request many times, some at a time, and measures. With a rate, requests are due at fixed moments,
 * and a latency counts from then: while the server stalls, those that have to wait are late, as they are for
 * its users.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Dialer } from './dialer.ts'
import { verdictOf } from './expectation.ts'
import { deadline, type Failure, failureOf } from './failure.ts'
import { type Outgoing, requestOptions } from './message.ts'
import type { Options } from './options.ts'

export interface Load extends Pick<Options, 'repeat' | 'duration' | 'rate' | 'concurrency' | 'expect'> {
  readonly onProgress: (progress: LoadProgress) => void
  readonly onInterrupt: (listener: () => void) => () => void
}

export interface LoadProgress {
  readonly done: number
  readonly failed: number
  /** Milliseconds since the beginning. */
  readonly elapsed: number
}

/** The results of sending one request many times. */
export type Measurement = Readonly<Awaited<ReturnType<typeof runLoad>>>

/** Latencies are kept one by one: 80 MB of them. */
const MOST_REQUESTS = 10_000_000
/** Milliseconds after the end for what is under way, or was due before. */
const GRACE = 2000
/** Milliseconds between two pictures of the progress. */
const INTERVAL = 200

export async function runLoad(dialer: Dialer, outgoing: Outgoing, load: Load) {
  const { url, method } = outgoing
  const { repeat, duration, rate, concurrency, onProgress, onInterrupt } = load
  const pool = dialer.open(concurrency)
  const tally = new Tally(repeat ?? MOST_REQUESTS)
  const started = performance.now()
  const until = duration === null ? Number.POSITIVE_INFINITY : started + duration
  let sent = 0
  let ending: 'none' | 'over' | 'interrupted' = 'none'
  const finish = (how: typeof ending): void => {
    ending = how
    void pool.destroy()
  }
  const one = async (due: number): Promise<void> => {
    const abort = outgoing.timeout === null ? null : new AbortController()
    const limit = outgoing.timeout && deadline(outgoing.timeout, (error) => abort!.abort(error))
    let hasHead = false
    try {
      const response = await pool.request({ ...requestOptions(outgoing), signal: abort?.signal ?? null })
      hasHead = true
      let bytes = 0
      for await (const chunk of response.body) bytes += (chunk as Buffer).length
      tally.response(response.statusCode, bytes, performance.now() - due)
    } catch (error) {
      const stage = hasHead ? 'receiving the body' : dialer.stage
      if (ending === 'none') tally.failure(failureOf(error, stage, dialer.isCleartextH2))
    }
    if (limit) limit.clear()
  }
  const worker = async (): Promise<void> => {
    while (sent < tally.most) {
      const due = rate === null ? performance.now() : started + (sent * 1000) / rate
      if (due >= until || ending !== 'none') return
      sent++
      await moment(due, () => ending !== 'none')
      await one(due)
    }
  }

  const progress = (): void =>
    onProgress({ done: tally.done, failed: tally.failed, elapsed: performance.now() - started })
  const stopListening = onInterrupt(() => finish('interrupted'))
  const last = duration === null ? null : setTimeout(() => finish('over'), duration + GRACE)
  const ticks = setInterval(progress, INTERVAL)
  await Promise.all(Array.from({ length: Math.min(concurrency, tally.most) }, worker))
  const elapsed = performance.now() - started
  for (const timer of [last, ticks]) clearTimeout(timer ?? undefined)
  stopListening()
  await (tally.failures.size === 0 && (ending as string) === 'none' ? pool.close() : pool.destroy())
  dialer.end()
  // With a rate, the server may be too slow to take all that are due.
  const isCut = rate !== null && duration !== null && (ending as string) !== 'interrupted'
  const due = isCut ? Math.min(tally.most, Math.ceil((duration * rate) / 1000)) : sent
  const { latencies, bytes, statuses, failures, failed, done } = tally
  const perSecond = (latencies.length * 1000) / elapsed
  const unfinished = due - done
  const facts = { latencies, perSecond, errors: failed + unfinished, due }
  return {
    method,
    url: url.href,
    requests: due,
    concurrency,
    rate,
    duration: elapsed,
    isInterrupted: (ending as string) === 'interrupted',
    latencies,
    bytes,
    statuses,
    failures,
    /** Those that were under way at the end, or due and not sent. */
    unfinished,
    connections: dialer.connections.length,
    protocols: [...new Set(dialer.connections.map(({ protocol }) => protocol))],
    expectations: load.expect.map((expectation) => verdictOf(expectation, facts)),
  }
}

/** The timers of the runtime have whole milliseconds: the rest is waited for turn by turn. */
async function moment(due: number, isOver: () => boolean): Promise<void> {
  for (let left = due - performance.now(); left > 0 && !isOver(); left = due - performance.now()) {
    await (left > 2 ? sleep(Math.min(left - 1, INTERVAL)) : nextTurn())
  }
}

/** Counts what came of the requests. */
class Tally {
  /** The most that can be counted. */
  readonly most: number
  readonly statuses = new Map<number, number>()
  /** By code; the first of each, and how many. */
  readonly failures = new Map<string, Failure & { count: number }>()
  /** Of response bodies. */
  bytes = 0
  done = 0
  /** Without a response, or with a status of 400 or more. */
  failed = 0
  #latencies: Float64Array<ArrayBuffer>
  #responses = 0

  constructor(most: number) {
    this.most = most
    this.#latencies = new Float64Array(Math.min(most, 65_536))
  }

  /** Sorted; of the requests that got a whole response. */
  get latencies(): Float64Array {
    return this.#latencies.subarray(0, this.#responses).sort()
  }

  response(status: number, bytes: number, latency: number): void {
    if (this.#responses === this.#latencies.length) {
      const grown = new Float64Array(Math.min(this.most, this.#responses * 2))
      grown.set(this.#latencies)
      this.#latencies = grown
    }
    this.#latencies[this.#responses++] = latency
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.bytes += bytes
    this.done++
    if (status >= 400) this.failed++
  }

  failure(failure: Failure): void {
    const known = this.failures.get(failure.code) ?? { ...failure, count: 0 }
    this.failures.set(failure.code, { ...known, count: known.count + 1 })
    this.done++
    this.failed++
  }
}
