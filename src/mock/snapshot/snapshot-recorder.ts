/** The snapshots of an agent: finds the response to a request, stores new ones, reads and writes files. */

import { parseUrl } from '../../base/address/parse-url.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { Snapshot, SnapshotData, SnapshotInfo, SnapshotResponse } from './snapshot.ts'
import { parseSnapshots, readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts'
import { isHar, type SnapshotMode, type SnapshotRecorderOptions } from './snapshot-options.ts'
import { hashOf, SnapshotRules } from './snapshot-rules.ts'

const FLUSH_INTERVAL = 30_000

interface Kept extends Readonly<SnapshotData> {
  /** Recorded or replayed by this agent. */
  isUsed: boolean
}

export class SnapshotRecorder {
  readonly #options: SnapshotRecorderOptions
  readonly #rules: SnapshotRules
  readonly #kept = new Map<string, Kept>()
  /** The file is read on first use. */
  #isLoaded: boolean
  #isChanged = false
  /** Settles when the last write has ended. */
  #saving: Promise<void> = Promise.resolve()
  #flushTimer: ReturnType<typeof setTimeout> | null = null

  constructor(options: SnapshotRecorderOptions = {}) {
    this.#options = options
    this.#rules = new SnapshotRules(options)
    this.#isLoaded = (options.mode ?? 'record') === 'record' || !options.snapshotPath
  }

  /** Something was recorded or removed since the file was read or written. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  /** Stores a response to a request. `body` is in base64. */
  record(
    opts: DispatchOptions,
    response: SnapshotResponse,
    origin: string = originOf(opts),
    content: unknown = opts.body,
  ): void {
    const request = this.#rules.request(opts, content, origin)
    const { body } = request
    let entry = { request, response: { ...response, headers: this.#rules.responseHeaders(response.headers) } }
    entry = this.#options.sanitize?.(entry) ?? entry
    const key = this.#rules.keyOf(entry.request)
    let kept = this.#kept.get(key)
    if (kept === undefined) {
      const timestamp = new Date().toISOString()
      const snapshot = { request: entry.request, responses: [], callCount: 0, timestamp }
      const isSame = entry.request.body === body
      const named = isSame ? this.#rules.undiciRequest(entry.request, opts) : entry.request
      kept = this.#keep(key, snapshot, hashOf(named))
    }
    kept.snapshot.responses.push(entry.response)
    kept.isUsed = true
    this.#isChanged = true
    this.#flushLater()
  }

  /** The snapshot of a request; it counts as replayed. */
  findSnapshot(
    opts: DispatchOptions,
    origin: string = originOf(opts),
    content: unknown = opts.body,
  ): Snapshot | undefined {
    const kept = this.#kept.get(this.#find(opts, origin, content))
    if (kept === undefined) return undefined
    kept.snapshot.callCount++
    kept.isUsed = true
    return kept.snapshot
  }

  /** Reads a file in place of what is there. One that does not exist is empty. */
  async loadSnapshots(filePath?: string): Promise<void> {
    this.#load(this.#pathOf(filePath))
  }

  /** Writes all snapshots, in a stable order. */
  async saveSnapshots(filePath?: string): Promise<void> {
    const path = this.#pathOf(filePath)
    // One write at a time: the last that was asked for must be the last that ends.
    const saved = this.#saving.then(() => this.#save(path))
    this.#saving = saved.catch(ignoreError)
    return saved
  }

  async #save(path: string): Promise<void> {
    this.#isChanged = false
    try {
      this.#loadOnce()
      await writeSnapshotFile(path, [...this.#kept.values()], isHar(this.#options, path))
    } catch (error) {
      this.#isChanged = true
      throw error
    }
  }

  /** Removes all snapshots. */
  clear(): void {
    this.#isLoaded = true
    this.#isChanged = true
    this.#kept.clear()
  }

  /** All snapshots. */
  getSnapshots(): Snapshot[] {
    this.#loadOnce()
    return Array.from(this.#kept.values(), ({ snapshot }) => snapshot)
  }

  /** How many there are. */
  size(): number {
    return this.getSnapshots().length
  }

  /** Replays from the first response again. */
  resetCallCounts(): void {
    for (const snapshot of this.getSnapshots()) snapshot.callCount = 0
  }

  /** Removes the snapshot of a request; false if there is none. */
  deleteSnapshot(opts: DispatchOptions): boolean {
    const isDeleted = this.#kept.delete(this.#find(opts, originOf(opts)))
    this.#isChanged ||= isDeleted
    return isDeleted
  }

  /** What is known about the snapshot of a request; null if there is none. */
  getSnapshotInfo(opts: DispatchOptions): SnapshotInfo | null {
    const kept = this.#kept.get(this.#find(opts, originOf(opts)))
    return kept === undefined ? null : describe(kept)
  }

  /** Replaces all snapshots. */
  replaceSnapshots(data: readonly SnapshotData[] | Record<string, Snapshot>): void {
    this.clear()
    this.#adopt(parseSnapshots(data))
  }

  /** Those that were neither replayed nor recorded. */
  unusedSnapshots(): SnapshotInfo[] {
    this.#loadOnce()
    return [...this.#kept.values()].filter(({ isUsed }) => !isUsed).map(describe)
  }

  /** Removes those that were neither replayed nor recorded. */
  prune(): void {
    for (const [key, { isUsed }] of this.#kept) if (!isUsed) this.#isChanged = this.#kept.delete(key)
  }

  /** Stops the automatic writes. */
  destroy(): void {
    if (this.#flushTimer !== null) clearTimer(this.#flushTimer)
    this.#flushTimer = null
  }

  /** The key of the snapshot for a request. undici stores bodies that are not text in another form. */
  #find(opts: DispatchOptions, origin: string, content: unknown = opts.body): string {
    this.#loadOnce()
    const request = this.#rules.request(opts, content, origin)
    const key = this.#rules.keyOf(request)
    return this.#kept.has(key) ? key : this.#rules.keyOf(this.#rules.undiciRequest(request, opts))
  }

  #loadOnce(): void {
    if (!this.#isLoaded) this.#load(this.#options.snapshotPath!)
  }

  #load(path: string): void {
    const isArchive = isHar(this.#options, path)
    const snapshots = readSnapshotFile(path, isArchive)
    this.#isLoaded = true
    this.#rules.isArchive = isArchive
    this.#kept.clear()
    this.#isChanged = false
    this.#adopt(snapshots)
  }

  /** Entries that differ only in ignored headers are merged. */
  #adopt(snapshots: readonly SnapshotData[]): void {
    for (const { hash, snapshot } of snapshots) {
      // A file may have been recorded with other options.
      const headers = this.#rules.requestHeaders(snapshot.request.headers)
      const others = this.#options.matchBody === false ? { headers, body: '' } : { headers }
      const key = this.#rules.keyOf({ ...snapshot.request, ...others })
      const known = this.#kept.get(key)
      if (known === undefined) this.#keep(key, snapshot, hash)
      else for (const response of snapshot.responses) known.snapshot.responses.push(response)
    }
  }

  #keep(key: string, snapshot: Snapshot, hash: string): Kept {
    const { maxSnapshots = Number.POSITIVE_INFINITY } = this.#options
    while (this.#kept.size > 0 && this.#kept.size >= maxSnapshots) {
      this.#kept.delete(this.#kept.keys().next().value!)
    }
    const kept = { snapshot, hash, isUsed: false }
    this.#kept.set(key, kept)
    return kept
  }

  #flushLater(): void {
    const { autoFlush, snapshotPath, flushInterval = FLUSH_INTERVAL } = this.#options
    if (autoFlush !== true || !snapshotPath || this.#flushTimer !== null) return
    this.#flushTimer = startTimer(() => {
      this.#flushTimer = null
      // A write that fails is tried again by `close()`, which reports it.
      this.saveSnapshots().catch(ignoreError)
    }, flushInterval)
    this.#flushTimer.unref?.()
  }

  #pathOf(filePath: string | undefined): string {
    const path = filePath ?? this.#options.snapshotPath
    if (!path) throw new InvalidArgumentError('Snapshot path is required')
    return path
  }
}

function describe({ snapshot, hash }: Kept): SnapshotInfo {
  const { request, responses, callCount, timestamp } = snapshot
  return { hash, request, responseCount: responses.length, callCount, timestamp }
}

function originOf({ origin, path }: DispatchOptions): string {
  return origin === undefined ? parseUrl(path).origin : String(origin)
}

/** The types under the names that programs written for undici use. */
export declare namespace SnapshotRecorder {
  export type {
    Snapshot,
    SnapshotData,
    SnapshotInfo,
    SnapshotMode as SnapshotRecorderMode,
    SnapshotRecorderOptions as Options,
  }
}
