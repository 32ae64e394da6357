/** The snapshots of an agent: finds the response to a request, stores new ones, reads and writes files. */

import { parseUrl } from '../../base/address/parse-url.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { Snapshot, SnapshotData, SnapshotInfo, SnapshotRequest, SnapshotResponse } from './snapshot.ts'
import { parseSnapshots, type ReadSnapshot, readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts'
import { HeaderLists, hashOf, keyOf, snapshotRequest, undiciRequest } from './snapshot-key.ts'
import { isHar, type SnapshotMode, type SnapshotRecorderOptions } from './snapshot-options.ts'

const FLUSH_INTERVAL = 30_000

export class SnapshotRecorder {
  readonly #options: SnapshotRecorderOptions
  readonly #lists: HeaderLists
  readonly #snapshots = new Map<string, Snapshot>()
  /** Hashes from the file or from recording. */
  readonly #hashes = new WeakMap<Snapshot, string>()
  /** Recorded or replayed by this agent. */
  readonly #used = new Set<Snapshot>()
  /** The file is read on first use. */
  #isLoaded: boolean
  /** For a HAR of a browser, whose requests have headers of its own. */
  #ignoresHeaders = false
  #isChanged = false
  /** Settles when the last write has ended. */
  #saving: Promise<void> = Promise.resolve()
  #flushTimer: ReturnType<typeof setTimeout> | null = null

  constructor(options: SnapshotRecorderOptions = {}) {
    this.#options = options
    this.#lists = new HeaderLists(options)
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
    const request = snapshotRequest(opts, content, origin, this.#lists, this.#options)
    const { body } = request
    let entry = { request, response: { ...response, headers: this.#lists.ofResponse(response.headers) } }
    entry = this.#options.sanitize?.(entry) ?? entry
    const key = keyOf(entry.request, this.#lists, this.#ignoresHeaders)
    let snapshot = this.#snapshots.get(key)
    if (snapshot === undefined) {
      const timestamp = new Date().toISOString()
      snapshot = { request: entry.request, responses: [], callCount: 0, timestamp }
      this.#makeRoom()
      this.#snapshots.set(key, snapshot)
      const isSame = entry.request.body === body
      const named = isSame ? undiciRequest(entry.request, opts, this.#options) : entry.request
      this.#hashes.set(snapshot, hashOf(named))
    }
    snapshot.responses.push(entry.response)
    this.#used.add(snapshot)
    this.#isChanged = true
    this.#flushLater()
  }

  /** The snapshot of a request; it counts as replayed. */
  findSnapshot(
    opts: DispatchOptions,
    origin: string = originOf(opts),
    content: unknown = opts.body,
  ): Snapshot | undefined {
    const snapshot = this.#find(opts, origin, content)
    if (snapshot === undefined) return undefined
    snapshot.callCount++
    this.#used.add(snapshot)
    return snapshot
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
      const list = this.getSnapshots().map((snapshot) => ({ hash: this.#hashOf(snapshot), snapshot }))
      await writeSnapshotFile(path, list, isHar(this.#options, path))
    } catch (error) {
      this.#isChanged = true
      throw error
    }
  }

  /** Removes all snapshots. */
  clear(): void {
    this.#isLoaded = true
    this.#isChanged = true
    this.#snapshots.clear()
    this.#used.clear()
  }

  /** All snapshots. */
  getSnapshots(): Snapshot[] {
    this.#loadOnce()
    return [...this.#snapshots.values()]
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
    const found = this.#find(opts, originOf(opts))
    if (found === undefined) return false
    this.#isChanged = true
    for (const [key, snapshot] of this.#snapshots) if (snapshot === found) this.#snapshots.delete(key)
    return true
  }

  /** What is known about the snapshot of a request; null if there is none. */
  getSnapshotInfo(opts: DispatchOptions): SnapshotInfo | null {
    const snapshot = this.#find(opts, originOf(opts))
    return snapshot === undefined ? null : this.#describe(snapshot)
  }

  /** Replaces all snapshots. */
  replaceSnapshots(data: readonly SnapshotData[] | Record<string, Snapshot>): void {
    this.clear()
    this.#adopt(parseSnapshots(data))
  }

  /** Those that were neither replayed nor recorded. */
  unusedSnapshots(): SnapshotInfo[] {
    return this.getSnapshots()
      .filter((snapshot) => !this.#used.has(snapshot))
      .map((snapshot) => this.#describe(snapshot))
  }

  /** Removes those that were neither replayed nor recorded. */
  prune(): void {
    for (const [key, snapshot] of this.#snapshots) {
      if (this.#used.has(snapshot)) continue
      this.#snapshots.delete(key)
      this.#isChanged = true
    }
  }

  /** Stops the automatic writes. */
  destroy(): void {
    if (this.#flushTimer !== null) clearTimer(this.#flushTimer)
    this.#flushTimer = null
  }

  /** undici stores bodies that are not text in another form. */
  #find(opts: DispatchOptions, origin: string, content: unknown = opts.body): Snapshot | undefined {
    this.#loadOnce()
    const request = snapshotRequest(opts, content, origin, this.#lists, this.#options)
    const found = this.#snapshots.get(keyOf(request, this.#lists, this.#ignoresHeaders))
    if (found !== undefined || typeof opts.body === 'string') return found
    const other = undiciRequest(request, opts, this.#options)
    return this.#snapshots.get(keyOf(other, this.#lists, this.#ignoresHeaders))
  }

  #hashOf(snapshot: Snapshot): string {
    return this.#hashes.get(snapshot) ?? hashOf(snapshot.request)
  }

  #describe(snapshot: Snapshot): SnapshotInfo {
    const { request, responses, callCount, timestamp } = snapshot
    return { hash: this.#hashOf(snapshot), request, responseCount: responses.length, callCount, timestamp }
  }

  #loadOnce(): void {
    if (!this.#isLoaded) this.#load(this.#options.snapshotPath!)
  }

  #load(path: string): void {
    const isArchive = isHar(this.#options, path)
    const snapshots = readSnapshotFile(path, isArchive)
    this.#isLoaded = true
    this.#ignoresHeaders = isArchive && !this.#lists.isSelective
    this.#snapshots.clear()
    this.#used.clear()
    this.#isChanged = false
    this.#adopt(snapshots)
  }

  /** Entries that differ only in ignored headers are merged. */
  #adopt(snapshots: readonly ReadSnapshot[]): void {
    for (const { hash, snapshot } of snapshots) {
      const key = keyOf(this.#comparable(snapshot.request), this.#lists, this.#ignoresHeaders)
      const known = this.#snapshots.get(key)
      if (known === undefined) {
        this.#makeRoom()
        this.#snapshots.set(key, snapshot)
        if (hash !== null) this.#hashes.set(snapshot, hash)
      } else {
        for (const response of snapshot.responses) known.responses.push(response)
      }
    }
  }

  /** A file may have been recorded with other options. */
  #comparable(request: SnapshotRequest): SnapshotRequest {
    const headers = this.#lists.ofRequest(request.headers)
    return { ...request, headers, ...(this.#options.matchBody === false ? { body: '' } : null) }
  }

  #makeRoom(): void {
    const { maxSnapshots = Number.POSITIVE_INFINITY } = this.#options
    while (this.#snapshots.size > 0 && this.#snapshots.size >= maxSnapshots) {
      this.#snapshots.delete(this.#snapshots.keys().next().value!)
    }
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
