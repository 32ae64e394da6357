/** The values of options: how each is written, and the limits of numbers. */
import { basicCredentials, withoutCredentials } from '../base/address/basic-credentials.ts'
import { redactUrls } from './secrets.ts'

/** A mistake in the command line, or in a file it names. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}

export interface Target {
  /** Without credentials. */
  readonly url: URL
  /** The credentials of the URL as the value of an authorization header. */
  readonly authorization: string | null
}

/** Numbers; null when they are not given. Times are milliseconds. */
export interface Limits {
  readonly timeout: number | null
  readonly 'connect-timeout': number | null
  /** How often a failed request is sent again. */
  readonly retry: number
  /** Bytes per second. */
  readonly 'limit-rate': number | null
  /** Where the body goes on: `-` is the size of the file. */
  readonly 'continue-at': number | '-' | null
  readonly repeat: number | null
  readonly duration: number | null
  /** Requests per second. */
  readonly rate: number | null
  readonly concurrency: number
  readonly expect: readonly Expectation[]
}

/** A condition of `--expect`. */
export interface Expectation {
  /** As it was written. */
  readonly text: string
  readonly measure: string
  readonly isBelow: boolean
  readonly includesLimit: boolean
  /** Milliseconds, a share from 0 to 1, or a number. */
  readonly limit: number
  readonly isShare: boolean
}

/** The most of each. Latencies are kept one by one, as 8 bytes each. */
const MOST = {
  repeat: 1_000_000,
  rate: 1_000_000,
  /** With waits that double, nobody sees the last of them. */
  retry: 100,
  /** Sockets a process may usually open. */
  concurrency: 1000,
} as const
/** Seconds; the longest a timer of the runtime can wait is 2³¹ − 1 ms. */
const LONGEST_TIMEOUT = 2_147_483

/** The message shows what was given, but for what may be a password. */
export function readUrl(given: string): Target {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const shown = redactUrls(given).replace(/^((?:[a-z][a-z0-9+.-]*:)?\/*).*@/i, '$1')
    throw new UsageError(`the URL is not a valid http or https URL: ${shown}`)
  }
  url.hash = ''
  return { url: withoutCredentials(url), authorization: basicCredentials(url) }
}

/** `Name:` keeps the command from sending this field by itself, `Name;` sends it without a value. */
export function readHeader(given: string): readonly [string, string | null] {
  if (/^[^:;\s]+;$/.test(given)) return [given.slice(0, -1), '']
  const colon = given.indexOf(':')
  // The value may be a secret, and without a colon we cannot know where it starts.
  if (colon < 1) throw new UsageError("a header is written 'Name: value'")
  return [given.slice(0, colon).trim(), given.slice(colon + 1).trim() || null]
}

export function readSeconds(name: string, given: string | undefined): number | null {
  if (given === undefined) return null
  const seconds = /^\d*\.?\d+$/.test(given) ? Number(given) : 0
  if (seconds > 0 && seconds <= LONGEST_TIMEOUT) return seconds * 1000
  throw new UsageError(`--${name} is a number of seconds above 0, at most ${LONGEST_TIMEOUT}`)
}

export function readCount(name: keyof typeof MOST, given: string | undefined): number | null {
  if (given === undefined) return null
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (value >= 1 && value <= MOST[name]) return value
  throw new UsageError(`--${name} is a whole number from 1 to ${MOST[name]}`)
}

const UNITS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

export function readDuration(given: string | undefined): number | null {
  if (given === undefined) return null
  const [, digits, unit] = /^(\d*\.?\d+)(ms|s|m|h|)$/.exec(given) ?? []
  const value = Number(digits) * UNITS[unit ?? '']!
  if (value > 0 && value <= LONGEST_TIMEOUT * 1000) return value
  throw new UsageError('--duration is a time above 0, such as 500ms, 10s or 2m')
}

export function readBytesPerSecond(given: string | undefined): number | null {
  if (given === undefined) return null
  const [, digits, unit] = /^(\d*\.?\d+)([kmg]?)b?$/i.exec(given) ?? []
  const value = Math.floor(Number(digits) * 1024 ** ['', 'k', 'm', 'g'].indexOf((unit ?? '').toLowerCase()))
  if (value >= 1) return value
  throw new UsageError('--limit-rate is a number of bytes per second, such as 500, 200k or 1.5M')
}

export function readOffset(given: string | undefined): number | '-' | null {
  if (given === undefined || given === '-') return given ?? null
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new UsageError('--continue-at is a number of bytes, or - for what the file lacks')
}

/** Each is written `host:port:address`; the host may be `*`. */
export function readAddresses(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((each) => {
      const [, host, port, addresses] = /^\+?([^:]+|\[.*?\]):(\d{1,5}):(.+)$/.exec(each) ?? []
      if (host === undefined) throw new UsageError("--resolve is written 'host:port:address'")
      const [first] = addresses!.split(',')
      return [`${host.toLowerCase()}:${port}`, first!.replace(/^\[(.*)\]$/, '$1')] as const
    }),
  )
}

const MEASURES = ['min', 'mean', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99.9', 'max'] as const
const EXPECTATION = /^([a-z][a-z0-9.]*)(<=|>=|<|>)(\d*\.?\d+)(us|ms|s|%|)$/

/** Conditions between commas, such as `p99<200ms,errors<1%`. */
export function readExpectations(given: string | undefined): readonly Expectation[] {
  return (given?.split(',') ?? []).map((part) => {
    const text = part.replace(/\s+/g, '')
    const [, measure = '', comparison = '', digits, unit = ''] = EXPECTATION.exec(text) ?? []
    const isLatency = (MEASURES as readonly string[]).includes(measure)
    const fits = isLatency
      ? unit !== '%'
      : measure === 'errors'
        ? unit === '' || unit === '%'
        : measure === 'rate' && unit === ''
    if (!fits) {
      throw new UsageError(
        `--expect is written 'p99<200ms,errors<1%'; it knows ${MEASURES.join(', ')}, errors and rate`,
      )
    }
    const isShare = unit === '%'
    const scale = isShare ? 0.01 : isLatency ? UNITS[unit || 'ms']! : 1
    return {
      text,
      measure,
      isBelow: comparison.startsWith('<'),
      includesLimit: comparison.endsWith('='),
      limit: Number(digits) * scale,
      isShare,
    }
  })
}
