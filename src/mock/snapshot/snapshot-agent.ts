/** The snapshot agent: records responses of servers, and replays them. */
import { isRegExp } from 'node:util/types'
import { defineKind } from '../../base/object/kind.ts'
import type { CloseCallback } from '../../dispatcher/dispatcher.ts'
import { UndiciError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { MatchRun } from '../match/match-run.ts'
import { shownQuery } from '../match/secrets.ts'
import { testPattern } from '../match/text-matcher.ts'
import { MockAgent } from '../mock-agent.ts'
import type { MockCall } from '../mock-call.ts'
import { NETWORK } from '../mock-network.ts'
import { fixedReply, NO_DEFAULTS } from '../reply/reply.ts'
import type { Snapshot, SnapshotData, SnapshotInfo, SnapshotResponse } from './snapshot.ts'
import { SnapshotHandler } from './snapshot-handler.ts'
import {
  readSnapshotOptions,
  type SnapshotAgentOptions,
  type SnapshotMode,
  type SnapshotRecorderOptions,
} from './snapshot-options.ts'
import { SnapshotRecorder } from './snapshot-recorder.ts'

/**
 * Records the responses to requests that no interceptor replies to, and replays them.
 *
 * @example
 * const agent = new SnapshotAgent({ mode: 'playback', snapshotPath: './test/api.json' })
 * const { body } = await agent.request({ origin: 'https://api.test', path: '/', method: 'GET' })
 */
export class SnapshotAgent extends MockAgent {
  readonly #options: SnapshotRecorderOptions
  readonly #recorder: SnapshotRecorder

  constructor(options: SnapshotAgentOptions = {}) {
    const settings = readSnapshotOptions(options)
    super(options)
    this.#options = settings
    this.#recorder = new SnapshotRecorder(settings)
    const network = this[NETWORK]
    network.fallback = (run) => {
      if (this.#isExcluded(run.call)) return network.send(run)
      const take = (): boolean => this.#take(run)
      return run.call.hasUnreadBody ? network.collect(run.call, take) : take()
    }
  }

  /** Writes the file. */
  saveSnapshots(filePath?: string): Promise<void> {
    return this.#recorder.saveSnapshots(filePath)
  }

  /** Reads a file in place of what is there. */
  loadSnapshots(filePath?: string): Promise<void> {
    return this.#recorder.loadSnapshots(filePath)
  }

  /** The recorder that holds the snapshots. */
  getRecorder(): SnapshotRecorder {
    return this.#recorder
  }

  /** The mode that it was made with. */
  getMode(): SnapshotMode {
    return this.#options.mode!
  }

  /** Removes all snapshots. */
  clearSnapshots(): void {
    this.#recorder.clear()
  }

  /** Replays from the first response again. */
  resetCallCounts(): void {
    this.#recorder.resetCallCounts()
  }

  /** Removes the snapshot of a request; false if there is none. */
  deleteSnapshot(opts: DispatchOptions): boolean {
    return this.#recorder.deleteSnapshot(opts)
  }

  /** What is known about the snapshot of a request; null if there is none. */
  getSnapshotInfo(opts: DispatchOptions): SnapshotInfo | null {
    return this.#recorder.getSnapshotInfo(opts)
  }

  /** Replaces all snapshots. */
  replaceSnapshots(data: readonly SnapshotData[] | Record<string, Snapshot>): void {
    this.#recorder.replaceSnapshots(data)
  }

  /** Those that were neither replayed nor recorded: a request for them is not made any more. */
  unusedSnapshots(): SnapshotInfo[] {
    return this.#recorder.unusedSnapshots()
  }

  /** Writes the file, unless it only replays, and closes the agent. Fails if the file cannot be written. */
  override close(callback: CloseCallback): void
  override close(): Promise<void>
  override close(callback?: CloseCallback): Promise<void> | void {
    const closed = this.#close()
    if (callback === undefined) return closed
    closed.then(
      () => callback(null, null),
      (error: Error) => callback(error, null),
    )
  }

  async #close(): Promise<void> {
    // With a callback: otherwise the base class calls this method again.
    await new Promise<void>((resolve, reject) => {
      super.close((error) => (error === null ? resolve() : reject(error)))
    })
    this.#recorder.destroy()
    if (this.#options.prune === true) this.#recorder.prune()
    const isDue = this.#recorder.isChanged || (this.#options.mode === 'record' && this.#recorder.size() > 0)
    if (this.#options.mode !== 'playback' && this.#options.snapshotPath && isDue)
      await this.#recorder.saveSnapshots()
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (!this.closed && !this.destroyed) await this.close()
    await super[Symbol.asyncDispose]()
  }

  #take(run: MatchRun): boolean {
    const { call } = run
    const { options, given, origin } = call
    if (this.#options.mode !== 'record' && this.#options.shouldPlayback?.(options) !== false) {
      const snapshot = this.#recorder.findSnapshot(given, origin, options.body)
      if (snapshot !== undefined) return this.#replay(snapshot, call)
    }
    if (this.#options.mode === 'playback') throw this.#notFound(call)
    if (this.#options.shouldRecord?.(options) === false) return this[NETWORK].send(run)
    const store = (response: SnapshotResponse): void =>
      this.#recorder.record(given, response, origin, options.body)
    return this[NETWORK].send(run, new SnapshotHandler(call.handler, store))
  }

  #replay({ responses, callCount }: Snapshot, call: MockCall): boolean {
    const response = responses[Math.min(callCount, responses.length) - 1]!
    const { statusCode, headers, body, trailers, time = 0 } = response
    const reply = fixedReply(statusCode, Buffer.from(body, 'base64'), { headers, trailers }, NO_DEFAULTS)
    const delay = this.#options.replayTimings === true ? Math.round(time) : 0
    return this[NETWORK].replay(call, reply, delay)
  }

  #notFound({ options, method, origin }: MockCall): Error {
    const first = `No snapshot found for ${method} ${shownQuery(options.path)}`
    const snapshots = this.#recorder.getSnapshots()
    const known = snapshots.map(({ request }) => `${request.method} ${shownQuery(request.url)}`)
    const same = known.filter((place) => place.startsWith(`${method} ${origin}/`))
    const nearest = (same.length > 0 ? same : known).slice(0, 5)
    const list = nearest.length === 0 ? 'the file has none' : nearest.join('\n          ')
    return new UndiciError(`${first}\nNearest:  ${list}`)
  }

  #isExcluded({ origin, path }: MockCall): boolean {
    const url = `${origin}${path}`
    return (this.#options.excludeUrls ?? []).some((pattern) =>
      isRegExp(pattern) ? testPattern(pattern, url) : url.toLowerCase().includes(pattern.toLowerCase()),
    )
  }
}
defineKind(SnapshotAgent, 'ventuno.SnapshotAgent')

/** The types under the names that programs written for undici use. */
export declare namespace SnapshotAgent {
  export type { SnapshotAgentOptions as Options }
}
