/**
 * The command from its arguments to its exit code. Uses the given context only, never the process itself, but
 * for the proxies, which the library takes from the environment.
 */
import { open, readFile } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { replaceFile } from '../base/node/whole-file.ts'
import { readJar, saveJar } from './cookie-file.ts'
import { Dialer } from './dialer.ts'
import { exchange, type Field, type Outgoing } from './exchange.ts'
import { EXIT, type ExitCode, failureOf } from './failure.ts'
import { harOf } from './har.ts'
import { measurementReport } from './histogram.ts'
import { information, packageVersion } from './information.ts'
import { type Options, parseOptions, UsageError } from './options.ts'
import { Progress } from './progress.ts'
import { repeat } from './repeat.ts'
import { failureLines, report } from './report.ts'
import { exchangeResult, measurementResult } from './result.ts'
import { type Environment, harmless, type Output, TextLayout } from './text-layout.ts'

/** The parts of a process that the command uses. */
export interface CommandContext {
  /** Without the runtime and the script. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdin: Readable
  readonly stdout: Output
  readonly stderr: Output
}

/** A request body is held in memory because it may be sent more than once. */
const LARGEST_DATA = 256 * 1024 * 1024
/** Bytes of a response body that are kept: for a report of its beginning, for a result that has all of it. */
const KEPT_FOR_REPORT = 1024 * 1024
const KEPT_FOR_RESULT = 64 * 1024 * 1024

/** Runs the command and returns its exit code. Mistakes of the user or the peer do not throw. */
export async function run(context: CommandContext): Promise<ExitCode> {
  const { argv, env, stdin, stdout, stderr } = context
  try {
    const options = parseOptions(argv)
    const text = information(options)
    if (text !== null) {
      stdout.write(text)
      return EXIT.ok
    }
    const outgoing = await outgoingOf(options, stdin)
    const { cacert, cert, key = cert } = options
    const read = (name: string): Promise<Buffer> => onFile('read', name, () => readFile(name))
    const dialer = new Dialer(options, {
      ...(cacert !== undefined && { ca: await read(cacert) }),
      ...(cert !== undefined && { cert: await read(cert) }),
      ...(key !== undefined && { key: await read(key) }),
    })
    const action = options.repeat === null ? once : measure
    return await action(options, dialer, outgoing, context)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    stderr.write(`${failureLines(failureOf(error, 'connecting'), TextLayout.for(stderr, env)).join('\n')}\n`)
    return EXIT.usage
  }
}

async function once(
  options: Options,
  dialer: Dialer,
  outgoing: Outgoing,
  { env, stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const { output, har, json } = options
  const sink = output === undefined ? null : output === '-' ? stdout : await onFile('write', output, create)
  const progress = new Progress(stderr, TextLayout.for(stderr, env))
  const result = await exchange(dialer, outgoing, {
    keep: json || har !== undefined ? KEPT_FOR_RESULT : KEPT_FOR_REPORT,
    sink,
    onProgress: (received, expected) => progress.draw(received, expected, 'bytes'),
  })
  progress.clear()
  if (sink !== null && sink !== stdout) await onFile('write', output!, () => finished(sink.end()))
  const savedTo = output === '-' ? 'standard output' : (output ?? null)
  // If the body goes to standard output, the page goes to standard error, as it does after a failure.
  const page = !json && (sink === stdout || result.failure !== null) ? stderr : stdout
  page.write(
    json
      ? print(exchangeResult(result, savedTo))
      : report(result, TextLayout.for(page, env), options.verbose, savedTo),
  )
  // Even without the secrets that are known as such, it is a record of what somebody did.
  const save = (name: string): Promise<void> => {
    const archive = harOf(result, packageVersion(), options['har-secrets'])
    return replaceFile(name, { text: print(archive), mode: 0o600 })
  }
  if (har !== undefined) await onFile('write', har, save)
  const { 'cookie-jar': jarFile } = options
  if (jarFile !== undefined) await onFile('write', jarFile, (name) => saveJar(name, outgoing.jar!))
  if (result.failure !== null) return result.failure.exitCode
  return options.fail && result.response!.status >= 400 ? EXIT.status : EXIT.ok
}

async function measure(
  { repeat: requests, concurrency, json, fail }: Options,
  dialer: Dialer,
  outgoing: Outgoing,
  { env, stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const progress = new Progress(stderr, TextLayout.for(stderr, env))
  const measurement = await repeat(dialer, outgoing, requests!, concurrency, (done) =>
    progress.draw(done, requests, 'requests'),
  )
  progress.clear()
  stdout.write(
    json
      ? print(measurementResult(measurement))
      : measurementReport(measurement, TextLayout.for(stdout, env)),
  )
  const [mostFrequent] = [...measurement.failures.values()].sort((a, b) => b.count - a.count)
  if (mostFrequent !== undefined) return mostFrequent.exitCode
  return fail && [...measurement.statuses.keys()].some((status) => status >= 400) ? EXIT.status : EXIT.ok
}

function print(result: object): string {
  return `${harmless(JSON.stringify(result, null, 2))}\n`
}

async function outgoingOf(options: Options, stdin: Readable): Promise<Outgoing> {
  const { url, timeout, retry, location, compressed, authorization, 'json-body': jsonBody } = options
  const given = jsonBody ?? options.data
  const body = given === undefined ? null : await readData(given, stdin)
  // A text on the command line is nearly always a form; a file may be anything.
  const other = given?.startsWith('@') ? 'application/octet-stream' : 'application/x-www-form-urlencoded'
  const added: (Field | null)[] = [
    ['user-agent', `ventuno/${packageVersion()}`],
    ['accept', '*/*'],
    authorization === null ? null : ['authorization', authorization],
    body === null ? null : ['content-type', jsonBody === undefined ? other : 'application/json'],
  ]
  const own = new Set(options.headers.map(([name]) => name.toLowerCase()))
  return {
    url,
    timeout,
    retry,
    location,
    compressed,
    method: options.method ?? (body === null ? 'GET' : 'POST'),
    headers: [
      ...added.filter((field) => field !== null && !own.has(field[0])),
      ...options.headers,
    ] as Field[],
    body,
    jar: options['cookie-jar'] === undefined ? null : await onFile('read', options['cookie-jar'], readJar),
  }
}

async function readData(given: string, stdin: Readable): Promise<Buffer> {
  if (!given.startsWith('@')) return Buffer.from(given)
  return onFile('read', given.slice(1), async (name) => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of name === '-' ? stdin : (await open(name)).createReadStream()) {
      size += chunk.length
      if (size > LARGEST_DATA) throw new Error(`it has more than ${LARGEST_DATA} bytes`)
      chunks.push(Buffer.from(chunk))
    }
    return Buffer.concat(chunks)
  })
}

/** Opened before the request is sent: without a file to save to, there is no point in sending it. */
async function create(name: string): Promise<Writable> {
  // An error is seen when the stream is ended.
  return (await open(name, 'w')).createWriteStream().on('error', () => {})
}

/** A file that cannot be read or written is a mistake of the user. */
async function onFile<T>(verb: string, name: string, action: (name: string) => Promise<T>): Promise<T> {
  try {
    return await action(name)
  } catch (error) {
    throw new UsageError(`cannot ${verb} ${name}: ${(error as Error).message}`)
  }
}
