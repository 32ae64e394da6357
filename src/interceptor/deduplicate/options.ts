/** The options of the deduplicate interceptor: their defaults and checks. */
import { expectOption, finiteAbove, isString, type OptionTable, option, setOption } from '../../options.ts'
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
  readonly skipHeaderNames: readonly string[]
  /** In lower case. */
  readonly excludeHeaderNames: ReadonlySet<string>
  readonly maxBufferSize: number
}

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

export const DEDUPLICATE_OPTIONS: OptionTable<DeduplicateSettings> = {
  methods: { ...setOption(['GET'], isString, 'an array'), check: areMethods },
  skipHeaderNames: option<readonly string[]>([], Array.isArray, 'an array', readNames),
  excludeHeaderNames: option<ReadonlySet<string>>(
    new Set(),
    Array.isArray,
    'an array',
    (names: readonly unknown[], name) => new Set(readNames(names, name)),
  ),
  maxBufferSize: option(5 * 1024 * 1024, isSize),
}

function areMethods(methods: unknown): boolean {
  if (!Array.isArray(methods)) return false
  const wrong = methods.findIndex((method) => !SAFE_METHODS.includes(method))
  if (wrong === -1) return true
  const method = String(methods[wrong])
  throw new TypeError(`expected opts.methods to only contain safe HTTP methods, got ${method}`)
}

function isSize(size: unknown): boolean {
  expectOption(finiteAbove(0)(size), 'maxBufferSize', 'a positive finite number', String(size))
  return true
}

function readNames(names: readonly unknown[], option: string): string[] {
  return names.map((name, index) => {
    expectOption(typeof name === 'string', `${option}[${index}]`, 'a string', typeof name)
    return lowerCaseName(name)
  })
}
