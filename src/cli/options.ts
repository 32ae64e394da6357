/** The command line: its options, the values of each, and the messages for wrong ones. */
import { parseArgs } from 'node:util'
import { basicCredentials, withoutCredentials } from '../base/address/basic-credentials.ts'

/** A mistake in the command line, or in a file it names. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}

const flag = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

const KNOWN = {
  method: { ...text, short: 'X' },
  header: { ...text, short: 'H', multiple: true, default: [] as string[] },
  data: { ...text, short: 'd' },
  'json-body': text,
  http1: flag,
  http2: flag,
  h2c: flag,
  insecure: { ...flag, short: 'k' },
  cacert: text,
  cert: text,
  key: text,
  'unix-socket': text,
  proxy: { ...text, short: 'x' },
  noproxy: text,
  timeout: text,
  retry: text,
  location: { ...flag, short: 'L' },
  compressed: flag,
  'cookie-jar': text,
  output: { ...text, short: 'o' },
  json: flag,
  har: text,
  'har-secrets': flag,
  repeat: text,
  concurrency: text,
  fail: { ...flag, short: 'f' },
  verbose: { ...flag, short: 'v' },
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const

type Parsed = ReturnType<typeof parseArgs<{ options: typeof KNOWN; allowPositionals: true; tokens: true }>>

type Converted = 'header' | 'timeout' | 'retry' | 'repeat' | 'concurrency'

/** Strings that are not given are undefined. */
export interface Options extends Readonly<Omit<Parsed['values'], Converted>> {
  /** Without credentials. */
  readonly url: URL
  /** The credentials of the URL as the value of an authorization header. */
  readonly authorization: string | null
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Milliseconds. */
  readonly timeout: number | null
  /** How often a failed request is sent again. */
  readonly retry: number
  /** Null: one request, with a report of it. */
  readonly repeat: number | null
  readonly concurrency: number
}

/** Latencies are kept one by one: 8 MB of them. */
const MOST_REQUESTS = 1_000_000
/** With waits that double, nobody sees the last of them. */
const MOST_RETRIES = 100
/** Sockets a process may usually open. */
const MOST_AT_A_TIME = 1000
/** Seconds; the longest a timer of the runtime can wait is 2³¹ − 1 ms. */
const LONGEST_TIMEOUT = 2_147_483

export function parseOptions(argv: readonly string[]): Options {
  const { values, positionals } = parse(argv)
  const isBare = values.help || values.version
  if (!isBare && positionals.length !== 1) {
    throw new UsageError(positionals.length === 0 ? 'no URL is given' : 'more than one URL is given')
  }
  const { header, timeout, retry, repeat, concurrency, ...rest } = values
  const options: Options = {
    ...rest,
    ...readUrl(isBare ? 'localhost' : positionals[0]!),
    headers: header.map(readHeader),
    timeout: timeout === undefined ? null : readTimeout(timeout),
    retry: retry === undefined ? 0 : readCount('retry', retry, MOST_RETRIES),
    repeat: repeat === undefined ? null : readCount('repeat', repeat, MOST_REQUESTS),
    concurrency: readCount('concurrency', concurrency ?? '1', MOST_AT_A_TIME),
  }
  if (!isBare) checkTogether(options, concurrency !== undefined)
  return options
}

function parse(argv: readonly string[]): Parsed {
  let parsed: Parsed
  try {
    parsed = parseArgs({ args: [...argv], options: KNOWN, allowPositionals: true, tokens: true })
  } catch (error) {
    // The first line of the runtime's message is the mistake; the rest explains quoting.
    throw new UsageError((error as Error).message.split(/\.?(?: |\n)(?=To |Did )/, 1)[0])
  }
  const seen = new Set<string>()
  for (const token of parsed.tokens) {
    if (token.kind !== 'option' || token.name === 'header') continue
    if (seen.has(token.name)) throw new UsageError(`--${token.name} is given twice`)
    seen.add(token.name)
  }
  return parsed
}

/** Never repeats the value: it may contain a password. */
function readUrl(given: string): Pick<Options, 'url' | 'authorization'> {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('the URL is not a valid http or https URL')
  }
  url.hash = ''
  return { url: withoutCredentials(url), authorization: basicCredentials(url) }
}

function readHeader(given: string): readonly [string, string] {
  const colon = given.indexOf(':')
  // The value may be a secret, and without a colon we cannot know where it starts.
  if (colon < 1) throw new UsageError("a header is written 'Name: value'")
  return [given.slice(0, colon).trim(), given.slice(colon + 1).trim()]
}

function readTimeout(given: string): number {
  const seconds = /^\d*\.?\d+$/.test(given) ? Number(given) : 0
  if (seconds > 0 && seconds <= LONGEST_TIMEOUT) return seconds * 1000
  throw new UsageError(`--timeout is a number of seconds above 0, at most ${LONGEST_TIMEOUT}`)
}

function readCount(name: string, given: string, most: number): number {
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (value < 1 || value > most) throw new UsageError(`--${name} is a whole number from 1 to ${most}`)
  return value
}

function checkTogether(options: Options, hasConcurrency: boolean): void {
  const { http1, http2, h2c, data, cert, key, cacert, har, output, json } = options
  const isSecure = options.url.protocol === 'https:'
  // A proxy that forwards an http URL has a certificate, too.
  const proxyless = options.proxy?.startsWith('https:') ? undefined : cacert
  const isRepeated = options.repeat !== null
  const problems: [boolean, string][] = [
    [Number(http1) + Number(http2) + Number(h2c) > 1, '--http1, --http2 and --h2c exclude each other'],
    [http2 && !isSecure, '--http2 is negotiated over TLS; for an http URL there is --h2c'],
    [h2c && isSecure, '--h2c is for http URLs; for an https URL there is --http2'],
    [!isSecure && (cert ?? proxyless) !== undefined, '--cacert and --cert are for https URLs'],
    [key !== undefined && cert === undefined, '--key needs --cert'],
    [data !== undefined && options['json-body'] !== undefined, '--data and --json-body exclude each other'],
    [
      options.proxy !== undefined && options['unix-socket'] !== undefined,
      '--proxy and --unix-socket exclude each other',
    ],
    [hasConcurrency && !isRepeated, '--concurrency needs --repeat'],
    [isRepeated && options.retry > 0, '--retry is not for --repeat'],
    [
      isRepeated && (options.location || options.compressed),
      '--location and --compressed are not for --repeat',
    ],
    [isRepeated && options['cookie-jar'] !== undefined, '--cookie-jar is not for --repeat'],
    [isRepeated && (har ?? output) !== undefined, '--har and --output are not for --repeat'],
    [options['har-secrets'] && har === undefined, '--har-secrets needs --har'],
    [json && output === '-', '--json and the body cannot both go to standard output'],
  ]
  for (const [applies, message] of problems) if (applies) throw new UsageError(message)
}
