/**
 * The HTTP/2 options of a client, under either of their names: flat, or in `h2Options`. If both are given, the one in
 * `h2Options` counts.
 */
import { type Check, integerFrom, isBoolean, OptionReader } from './option-reader.ts'

/** The HTTP/2 options in one object. Each takes precedence over the flat one. */
export interface Http2Options {
  /** Speak HTTP/2 on cleartext connections. Default: false. */
  useH2c?: boolean | null | undefined
  /** Streams in flight until the server says how many it takes. Default: 100. */
  maxConcurrentStreams?: number | null | undefined
  /** Receive window of a connection in bytes. Default: 524288. */
  connectionWindowSize?: number | null | undefined
  /** Milliseconds between PING frames; 0 for none. Default: 60 000. */
  pingInterval?: number | null | undefined
  /** The values of the SETTINGS frame. */
  settings?: Http2SettingsOptions | null | undefined
}

/** The part of `h2Options` that is sent in the SETTINGS frame. */
export interface Http2SettingsOptions {
  /** Receive window of a stream in bytes. Default: 262144. */
  initialWindowSize?: number | null | undefined
}

export interface Http2Choices {
  readonly useH2c: boolean
  readonly maxConcurrentStreams: number
  readonly initialWindowSize: number
  readonly connectionWindowSize: number
  readonly pingInterval: number
}

const DEFAULTS: Http2Choices = {
  useH2c: false,
  maxConcurrentStreams: 100,
  initialWindowSize: 262144,
  connectionWindowSize: 524288,
  pingInterval: 60e3,
}

const POSITIVE = 'must be a positive integer, greater than 0'
const POSITIVE_OR_ZERO = 'must be a positive integer, greater or equal to 0'

const isPositive = integerFrom(1)
const isPositiveOrZero = integerFrom(0)
/** The flat option takes a fraction, and rounds it down. */
const isFromOne: Check = (value) => typeof value === 'number' && value >= 1

/** Without HTTP/2 nothing of it is looked at. */
export function readHttp2Options(options: OptionReader, isAllowed: boolean): Http2Choices {
  if (!isAllowed) return DEFAULTS
  const group = readGroup(options.raw('h2Options'))
  const read = <T>(name: keyof Http2Choices, fallback: T, check: Check, rule: string): T =>
    group[name] === undefined ? options.read(name, fallback, check, `${name} ${rule}`) : (group[name] as T)
  return {
    useH2c: read('useH2c', DEFAULTS.useH2c, isBoolean, 'must be a valid boolean value'),
    maxConcurrentStreams: read('maxConcurrentStreams', DEFAULTS.maxConcurrentStreams, isFromOne, POSITIVE),
    initialWindowSize: read('initialWindowSize', DEFAULTS.initialWindowSize, isPositive, POSITIVE),
    connectionWindowSize: read('connectionWindowSize', DEFAULTS.connectionWindowSize, isPositive, POSITIVE),
    pingInterval: read('pingInterval', DEFAULTS.pingInterval, isPositiveOrZero, POSITIVE_OR_ZERO),
  }
}

/** What `h2Options` says, checked; what it does not say is undefined. */
function readGroup(given: unknown): {
  [name in keyof Http2Choices]?: Http2Choices[name] | undefined
} {
  const group = new OptionReader(Object(given) as object)
  const settings = new OptionReader(Object(group.raw('settings')) as object)
  const read = <T>(from: OptionReader, name: string, path: string, check: Check, rule: string) =>
    from.read<T | undefined>(name, undefined, check, `h2Options.${path}${name} ${rule}`)
  return {
    useH2c: read<boolean>(group, 'useH2c', '', isBoolean, 'must be a valid boolean value'),
    initialWindowSize: read<number>(settings, 'initialWindowSize', 'settings.', isPositive, POSITIVE),
    maxConcurrentStreams: read<number>(group, 'maxConcurrentStreams', '', isPositive, POSITIVE),
    connectionWindowSize: read<number>(group, 'connectionWindowSize', '', isPositive, POSITIVE),
    pingInterval: read<number>(group, 'pingInterval', '', isPositiveOrZero, POSITIVE_OR_ZERO),
  }
}
