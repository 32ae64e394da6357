/** The options of the deduplicate interceptor: their defaults and checks. */
import { lowerCaseName } from '../../protocol/header-names.ts'
import { expect, ownOptions } from '../../relay/expected-options.ts'

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
  const opts = ownOptions(given)
  const { methods = ['GET'], maxBufferSize = DEFAULT_BUFFER_SIZE } = opts
  expect(Array.isArray(methods), 'methods', 'an array', typeof methods)
  const wrong = methods.findIndex((method) => !SAFE_METHODS.includes(method))
  if (wrong !== -1) {
    const method = String(methods[wrong])
    throw new TypeError(`expected opts.methods to only contain safe HTTP methods, got ${method}`)
  }
  const skipped = readNames('skipHeaderNames', opts.skipHeaderNames)
  const excluded = new Set(readNames('excludeHeaderNames', opts.excludeHeaderNames))
  if (!Number.isFinite(maxBufferSize) || maxBufferSize <= 0) {
    throw new TypeError(
      `expected opts.maxBufferSize to be a positive finite number, got ${String(maxBufferSize)}`,
    )
  }
  return { methods: new Set(methods), skipped, excluded, maxBufferSize }
}

function readNames(option: string, names: readonly string[] = []): string[] {
  expect(Array.isArray(names), option, 'an array', typeof names)
  return names.map((name, index) => {
    expect(typeof name === 'string', `${option}[${index}]`, 'a string', typeof name)
    return lowerCaseName(name)
  })
}
