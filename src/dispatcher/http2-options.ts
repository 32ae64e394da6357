/**
 * The HTTP/2 options of a client, under either of their names: flat, or in `h2Options`. If both are given,
 * the one in `h2Options` counts.
 */
import {
  type Check,
  integerFrom,
  isBoolean,
  type OptionTable,
  option,
  ownOptions,
  readOptions,
} from '../options.ts'

/** The HTTP/2 options in one object. Each takes precedence over the flat one. */
export interface Http2Options {
  /** Speak HTTP/2 on cleartext connections. Default: false. */
  useH2c?: boolean | null | undefined
  /** Streams in flight until the server says how many it takes. Default: 100. */
  maxConcurrentStreams?: number | null | undefined
  /** Receive window of a connection in bytes. Default: 524288, or `initialWindowSize` if that is greater. */
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

const POSITIVE = 'must be a positive integer, greater than 0'
const POSITIVE_OR_ZERO = 'must be a positive integer, greater or equal to 0'
const BOOLEAN = 'must be a valid boolean value'

/** The flat option takes a fraction, and rounds it down. */
const isFromOne: Check = (value) => typeof value === 'number' && value >= 1

const FLAT: OptionTable<Http2Choices> = {
  useH2c: option(false, isBoolean, `useH2c ${BOOLEAN}`),
  maxConcurrentStreams: option(100, isFromOne, `maxConcurrentStreams ${POSITIVE}`),
  initialWindowSize: option(262144, integerFrom(1), `initialWindowSize ${POSITIVE}`),
  connectionWindowSize: option(524288, integerFrom(1), `connectionWindowSize ${POSITIVE}`),
  pingInterval: option(60e3, integerFrom(0), `pingInterval ${POSITIVE_OR_ZERO}`),
}

const GROUPED: OptionTable<{ readonly [N in keyof Http2Choices]: Http2Choices[N] | null }> = {
  useH2c: option(null, isBoolean, `h2Options.useH2c ${BOOLEAN}`),
  initialWindowSize: option(null, integerFrom(1), `h2Options.settings.initialWindowSize ${POSITIVE}`),
  maxConcurrentStreams: option(null, integerFrom(1), `h2Options.maxConcurrentStreams ${POSITIVE}`),
  connectionWindowSize: option(null, integerFrom(1), `h2Options.connectionWindowSize ${POSITIVE}`),
  pingInterval: option(null, integerFrom(0), `h2Options.pingInterval ${POSITIVE_OR_ZERO}`),
}

/** Without HTTP/2 none of them is read. */
export function readHttp2Options(
  own: { readonly h2Options?: unknown; readonly connectionWindowSize?: unknown },
  isAllowed: boolean,
): Http2Choices {
  if (!isAllowed) return readOptions(FLAT, null)
  const group = ownOptions(Object(own.h2Options) as Http2Options)
  const { initialWindowSize } = ownOptions(Object(group.settings) as Http2SettingsOptions)
  const grouped = readOptions(GROUPED, { ...group, initialWindowSize })
  const given = Object.entries(grouped).filter(([, value]) => value !== null)
  const choices = readOptions(FLAT, { ...own, ...Object.fromEntries(given) })
  if ((grouped.connectionWindowSize ?? own.connectionWindowSize ?? null) !== null) return choices
  // Only a caller who names it means to hold streams back: see `WindowGrowth`.
  const connectionWindowSize = Math.max(choices.connectionWindowSize, choices.initialWindowSize)
  return { ...choices, connectionWindowSize }
}
