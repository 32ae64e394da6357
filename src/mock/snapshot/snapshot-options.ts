/** The options of a snapshot agent, checked. */
import { InvalidArgumentError } from '../../errors.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { MockAgentOptions } from '../mock-agent-options.ts'
import type { SnapshotRequest, SnapshotResponse } from './snapshot.ts'

/**
 * `record`: sends and stores. `playback`: only replays. `update`: replays what is stored, sends and stores
 * the rest.
 */
export type SnapshotMode = 'record' | 'playback' | 'update'

/** What `sanitize` may change before it is stored. */
export interface SanitizedEntry {
  /** The request as it is to be stored. */
  request: SnapshotRequest
  /** The response as it is to be stored. */
  response: SnapshotResponse
}

/** Options of the recorder of a `SnapshotAgent`. */
export interface SnapshotRecorderOptions {
  /** Default: `record`. */
  mode?: SnapshotMode | undefined
  /** The file; needed to replay. */
  snapshotPath?: string | null | undefined
  /** `har` for HTTP Archive 1.2, which is the default for files named `*.har`. */
  format?: 'json' | 'har' | undefined
  /** Most requests that are kept; the oldest is dropped. Default: Infinity. */
  maxSnapshots?: number | undefined
  /** Write the file from time to time. Default: false. */
  autoFlush?: boolean | undefined
  /** Milliseconds between these writes. Default: 30 000. */
  flushInterval?: number | undefined
  /** Request headers that are compared and stored. Default: all. */
  matchHeaders?: readonly string[] | undefined
  /** Request headers that are neither compared nor stored. */
  ignoreHeaders?: readonly string[] | undefined
  /** Headers that are neither compared nor stored, of requests and of responses. */
  excludeHeaders?: readonly string[] | undefined
  /** Compare bodies. Default: true. */
  matchBody?: boolean | undefined
  /** Makes the text of a body that is compared and stored. */
  normalizeBody?: ((body: string | Buffer | null | undefined) => string) | undefined
  /** Compare queries. Default: true. */
  matchQuery?: boolean | undefined
  /** Makes the text of a query that is compared and stored. */
  normalizeQuery?: ((query: URLSearchParams) => string) | undefined
  /** Whether the letter case of names in the lists of headers counts. Default: false. */
  caseSensitive?: boolean | undefined
  /** False: the request is sent, but not stored. */
  shouldRecord?: ((opts: DispatchOptions) => unknown) | undefined
  /** False: nothing is found for the request. */
  shouldPlayback?: ((opts: DispatchOptions) => unknown) | undefined
  /** URLs that are always sent and never stored: a part of them in any letter case, or a RegExp. */
  excludeUrls?: readonly (string | RegExp)[] | undefined
  /** Whether secrets are stored. Default: `redact`. */
  secrets?: 'redact' | 'keep' | undefined
  /** Changes what is stored, or returns something else. */
  sanitize?: ((entry: SanitizedEntry) => SanitizedEntry | void) | undefined
  /** On `close()`, remove snapshots from the file that were not used. Default: false. */
  prune?: boolean | undefined
  /** Replay as slowly as it was recorded, where the file has the times. Default: false. */
  replayTimings?: boolean | undefined
}

/** Options of `SnapshotAgent`: those of `MockAgent`, and those of its recorder. */
export interface SnapshotAgentOptions extends MockAgentOptions, SnapshotRecorderOptions {}

const MODES: readonly unknown[] = ['record', 'playback', 'update']

/** The options that are for the recorder. */
export function readSnapshotOptions(given: SnapshotAgentOptions): SnapshotRecorderOptions {
  const options: SnapshotAgentOptions = Object.assign(Object.create(null), given)
  const { mode = 'record', snapshotPath } = options
  if (!MODES.includes(mode)) {
    throw new InvalidArgumentError(
      `Invalid snapshot mode: ${String(mode)}. Must be one of: record, playback, update`,
    )
  }
  if (mode !== 'record' && !snapshotPath) {
    throw new InvalidArgumentError(`snapshotPath is required when mode is '${mode}'`)
  }
  return { ...options, mode }
}

export function isHar({ format }: SnapshotRecorderOptions, path: string): boolean {
  return format === undefined ? /\.har$/i.test(path) : format === 'har'
}
