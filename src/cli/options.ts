/** The command line: its options, which of them go together, and the messages for wrong ones. */
import { parseArgs } from 'node:util'
import { adviceFor } from './curl-options.ts'
import {
  type Limits,
  readAddresses,
  readBytesPerSecond,
  readCount,
  readDuration,
  readExpectations,
  readHeader,
  readOffset,
  readSeconds,
  readUrl,
  type Target,
  UsageError,
} from './option-values.ts'

export { UsageError }

/** Each with its short form. */
const FLAGS = {
  http1: '',
  http2: '',
  h2c: '',
  insecure: 'k',
  ipv4: '4',
  ipv6: '6',
  location: 'L',
  compressed: '',
  head: 'I',
  get: 'G',
  include: 'i',
  silent: 's',
  'show-error': 'S',
  json: '',
  'har-secrets': '',
  fail: 'f',
  'fail-with-body': '',
  verbose: 'v',
  help: 'h',
  version: 'V',
} as const

const TEXTS = {
  method: 'X',
  user: 'u',
  'user-agent': 'A',
  referer: 'e',
  'upload-file': 'T',
  timeout: 'm',
  'connect-timeout': '',
  retry: '',
  'limit-rate': '',
  'continue-at': 'C',
  'unix-socket': '',
  proxy: 'x',
  noproxy: '',
  cacert: '',
  cert: 'E',
  key: '',
  'cookie-jar': 'c',
  har: '',
  'write-out': 'w',
  repeat: '',
  duration: '',
  rate: '',
  concurrency: '',
  expect: '',
} as const

/** May be given several times. */
const LISTS = {
  header: 'H',
  cookie: 'b',
  data: 'd',
  'data-raw': '',
  'data-binary': '',
  'data-urlencode': '',
  'json-body': '',
  form: 'F',
  output: 'o',
  'remote-name': 'O',
  resolve: '',
} as const

/** Other names that curl has for them. */
const ALIASES: Readonly<Record<string, string>> = {
  request: 'method',
  'data-ascii': 'data',
  'max-time': 'timeout',
  'http1.1': 'http1',
}

type Flag = keyof typeof FLAGS
type Text = keyof typeof TEXTS
type List = keyof typeof LISTS

const known = (type: 'boolean' | 'string', names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([name, short]): [string, Known] => [name, { type, ...(short && { short }) }])

interface Known {
  readonly type: 'boolean' | 'string'
  readonly short?: string
}

const KNOWN: Readonly<Record<string, Known>> = Object.fromEntries([
  ...known('boolean', FLAGS),
  ...known('string', TEXTS),
  ...known('string', LISTS),
  ...Object.keys(ALIASES).map((name): [string, Known] => [
    name,
    { type: name === 'http1.1' ? 'boolean' : 'string' },
  ]),
  ['remote-name', { type: 'boolean', short: 'O' }],
])

/** One option of a list, in the order of the command line. */
export interface Given {
  readonly name: List
  readonly value: string
}

type Converted =
  | 'timeout'
  | 'connect-timeout'
  | 'retry'
  | 'limit-rate'
  | 'continue-at'
  | 'repeat'
  | 'duration'
  | 'rate'
  | 'concurrency'
  | 'expect'

type Plain = Readonly<Record<Flag, boolean>> & Readonly<Partial<Record<Exclude<Text, Converted>, string>>>

/** Texts that are not given are absent. */
export interface Options extends Plain, Target, Limits {
  /** What is to be requested, one after the other; the first is `url`. */
  readonly targets: readonly Target[]
  /** A field with the value null is not to be sent. */
  readonly headers: readonly (readonly [name: string, value: string | null])[]
  /** What the body is made from. */
  readonly data: readonly Given[]
  readonly cookies: readonly string[]
  /** Where the bodies go, one for each URL; null is the last part of the URL's path. */
  readonly outputs: readonly (string | null)[]
  /** Addresses by `host:port`. */
  readonly resolve: ReadonlyMap<string, string>
  /** Many requests, and how long they take, instead of one. */
  readonly isLoad: boolean
}

export function parseOptions(argv: readonly string[]): Options {
  const { flags, texts, lists, words } = parse(argv)
  const isBare = flags.help || flags.version
  if (!isBare && words.length === 0) throw new UsageError('no URL is given')
  const all = (...names: List[]): Given[] => lists.filter(({ name }) => names.includes(name))
  const values = (name: List): string[] => all(name).map(({ value }) => value)
  const targets = isBare ? [readUrl('localhost')] : words.map((word) => readTarget(word, flags.json))
  const { timeout, retry, repeat, duration, rate, concurrency, expect, ...rest } = texts
  const options: Options = {
    ...flags,
    ...rest,
    ...targets[0]!,
    targets,
    headers: values('header').map(readHeader),
    data: all('data', 'data-raw', 'data-binary', 'data-urlencode', 'json-body', 'form'),
    cookies: values('cookie'),
    outputs: all('output', 'remote-name').map(({ name, value }) => (name === 'output' ? value : null)),
    resolve: readAddresses(values('resolve')),
    timeout: readSeconds('timeout', timeout),
    'connect-timeout': readSeconds('connect-timeout', texts['connect-timeout']),
    retry: readCount('retry', retry) ?? 0,
    'limit-rate': readBytesPerSecond(texts['limit-rate']),
    'continue-at': readOffset(texts['continue-at']),
    repeat: readCount('repeat', repeat),
    duration: readDuration(duration),
    rate: readCount('rate', rate),
    concurrency: readCount('concurrency', concurrency) ?? (rate === undefined ? 1 : PATIENT_CONCURRENCY),
    expect: readExpectations(expect),
    isLoad: (repeat ?? duration) !== undefined,
  }
  if (!isBare) checkTogether(options, texts)
  return options
}

/** With `--rate`, how many requests are under way at a time unless it is said: enough for most servers. */
const PATIENT_CONCURRENCY = 50

/** With curl, `--json` has a value. */
function readTarget(word: string, hasJson: boolean): Target {
  if (hasJson && /^\s*[[{]/.test(word)) {
    throw new UsageError('--json prints the result as JSON; --json-body TEXT sends a body')
  }
  return readUrl(word)
}

function parse(argv: readonly string[]) {
  const flags = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, false])) as Record<Flag, boolean>
  const texts: Partial<Record<Text, string>> = {}
  const lists: Given[] = []
  const words: string[] = []
  const seen = new Set<string>()
  const config = { options: KNOWN, allowPositionals: true, tokens: true, strict: false } as const
  for (const token of parseArgs({ args: [...argv], ...config }).tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const { rawName, value } = token
    if (!Object.hasOwn(KNOWN, token.name)) throw unknown(rawName)
    const name = ALIASES[token.name] ?? token.name
    const takesValue = KNOWN[name]!.type === 'string'
    if (takesValue && value === undefined) throw new UsageError(`Option '${rawName}' argument missing`)
    if (!takesValue && value !== undefined) {
      throw new UsageError(`Option '${rawName}' does not take an argument`)
    }
    if (Object.hasOwn(LISTS, name)) lists.push({ name: name as List, value: value ?? '' })
    else if (seen.has(name)) throw new UsageError(`--${name} is given twice`)
    else if (takesValue) texts[name as Text] = value!
    else flags[name as Flag] = true
    seen.add(name)
  }
  return { flags, texts, lists, words }
}

function unknown(rawName: string): UsageError {
  const advice = adviceFor(rawName)
  return new UsageError(`Unknown option '${rawName}'${advice === null ? '' : ` (it is curl's): ${advice}`}`)
}

/** What a measurement has no use for. */
const NOT_FOR_LOAD = {
  location: (options) => options.location,
  compressed: (options) => options.compressed,
  include: (options) => options.include,
  retry: (options) => options.retry > 0,
  'cookie-jar': (options) => options['cookie-jar'] !== undefined,
  har: (options) => options.har !== undefined,
  output: (options) => options.outputs.length > 0,
  'upload-file': (options) => options['upload-file'] !== undefined,
  'continue-at': (options) => options['continue-at'] !== null,
  'limit-rate': (options) => options['limit-rate'] !== null,
  'write-out': (options) => options['write-out'] !== undefined,
} as const satisfies Partial<Record<Flag | Text | List, (options: Options) => boolean>>

function checkTogether(options: Options, texts: Partial<Record<Text, string>>): void {
  const { http1, http2, h2c, data, cert, key, cacert, har, json, isLoad, outputs, targets } = options
  const isSecure = targets.some(({ url }) => url.protocol === 'https:')
  const isPlain = targets.some(({ url }) => url.protocol === 'http:')
  // A proxy that forwards an http URL has a certificate, too.
  const proxyless = options.proxy?.startsWith('https:') ? undefined : cacert
  const isJson = data.some(({ name }) => name === 'json-body')
  const isForm = data.some(({ name }) => name === 'form')
  const resumes = options['continue-at'] !== null
  const kinds = [isJson, isForm, data.some(({ name }) => name.startsWith('data'))].filter(Boolean).length
  const toOutput = Number(json) + Number(har === '-') + Number(outputs.includes('-'))
  const problems: [boolean, string][] = [
    [Number(http1) + Number(http2) + Number(h2c) > 1, '--http1, --http2 and --h2c exclude each other'],
    [options.ipv4 && options.ipv6, '--ipv4 and --ipv6 exclude each other'],
    [http2 && isPlain, '--http2 is negotiated over TLS; for an http URL there is --h2c'],
    [h2c && isSecure, '--h2c is for http URLs; for an https URL there is --http2'],
    [!isSecure && (cert ?? proxyless) !== undefined, '--cacert and --cert are for https URLs'],
    [key !== undefined && cert === undefined, '--key needs --cert'],
    [kinds > 1, '--data, --json-body and --form exclude each other'],
    [
      data.length > 0 && options['upload-file'] !== undefined,
      '--upload-file has the body; leave the data out',
    ],
    [options.head && data.length > 0 && !options.get, '--head has no body; --get puts data into the URL'],
    [options.get && (isForm || isJson), '--get is for --data and its siblings'],
    [options['upload-file'] !== undefined && targets.length > 1, '--upload-file is for one URL'],
    [
      options.proxy !== undefined && options['unix-socket'] !== undefined,
      '--proxy and --unix-socket exclude each other',
    ],
    [outputs.length > targets.length, 'there are more outputs than URLs'],
    [resumes && outputs.length < targets.length, '--continue-at needs a file: --output or --remote-name'],
    [resumes && outputs.includes('-'), '--continue-at needs a file: --output or --remote-name'],
    [resumes && options.compressed, '--continue-at is not for --compressed'],
    [options['har-secrets'] && har === undefined, '--har-secrets needs --har'],
    [toOutput > 1, '--json, an archive and a body cannot both go to standard output'],
    [isLoad && targets.length > 1, 'more than one URL is given, which is not for --repeat and --duration'],
  ]
  for (const name of ['concurrency', 'rate', 'expect'] as const) {
    problems.push([!isLoad && texts[name] !== undefined, `--${name} needs --repeat or --duration`])
  }
  for (const [name, isGiven] of Object.entries(NOT_FOR_LOAD)) {
    problems.push([isLoad && isGiven(options), `--${name} is not for --repeat and --duration`])
  }
  for (const [applies, message] of problems) if (applies) throw new UsageError(message)
}
