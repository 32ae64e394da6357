/** The options of the deduplicate interceptor: their defaults and checks. */
import { withoutPollution } from '../../base/own-options.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'

/** The methods whose requests can be deduplicated. */
export type DeduplicateMethods = 'GET' | 'HEAD' | 'OPTIONS' | 'TRACE'

/** Options of `interceptors.deduplicate`. */
export interface DeduplicateOptions {
  /** Methods whose requests are deduplicated; safe ones only. Default: GET. */
  methods?: readonly DeduplicateMethods[] | undefined
  /** A request with one of these headers is not deduplicated. Default: none. */
  skipHeaderNames?: readonly string[] | undefined
  /** Headers that may differ between requests that share a response. Default: none. */
  excludeHeaderNames?: readonly string[] | undefined
  /** The most bytes of a body that are kept for a caller that reads slower than others. Default: 5 MiB. */
  maxBufferSize?: number | undefined
}

export interface DeduplicateSettings {
  readonly methods: ReadonlySet<string>
  /** In lower case. */
  readonly skipped: readonly string[]
  /** In lower case. */
  readonly excluded: ReadonlySet<string>
  readonly maxBufferSize: number
}

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

const DEFAULT_BUFFER_SIZE = 5 * 1024 * 1024

export function readDeduplicateOptions(given: DeduplicateOptions | undefined): DeduplicateSettings {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    throw new TypeError(
      `expected type of opts to be an Object, got ${given === null ? 'null' : typeof given}`,
    )
  }
  const opts = Object.assign(Object.create(null), withoutPollution(given)) as DeduplicateOptions
  return {
    methods: readMethods(opts.methods),
    skipped: readNames('skipHeaderNames', opts.skipHeaderNames),
    excluded: new Set(readNames('excludeHeaderNames', opts.excludeHeaderNames)),
    maxBufferSize: readSize(opts.maxBufferSize),
  }
}

function readMethods(methods: unknown = ['GET']): ReadonlySet<string> {
  if (!Array.isArray(methods)) {
    throw new TypeError(`expected opts.methods to be an array, got ${typeof methods}`)
  }
  for (const method of methods) {
    if (!SAFE_METHODS.includes(method)) {
      throw new TypeError(`expected opts.methods to only contain safe HTTP methods, got ${String(method)}`)
    }
  }
  return new Set(methods as string[])
}

function readNames(option: string, names: unknown = []): string[] {
  if (!Array.isArray(names)) {
    throw new TypeError(`expected opts.${option} to be an array, got ${typeof names}`)
  }
  return names.map((name: unknown, index) => {
    if (typeof name === 'string') return lowerCaseName(name)
    throw new TypeError(`expected opts.${option}[${index}] to be a string, got ${typeof name}`)
  })
}

function readSize(size: unknown = DEFAULT_BUFFER_SIZE): number {
  if (typeof size === 'number' && Number.isFinite(size) && size > 0) return size
  throw new TypeError(`expected opts.maxBufferSize to be a positive finite number, got ${String(size)}`)
}
