/**
 * The command from its arguments to its exit code. Uses the given context only, never the process itself, but
 * for the proxies, which the library takes from the environment.
 */
import { readFile } from 'node:fs/promises'
import { replaceFile } from '../base/node/whole-file.ts'
import type { CommandContext } from './context.ts'
import { saveJar } from './cookie-file.ts'
import { Dialer, type TlsFiles } from './dialer.ts'
import type { Exchange } from './exchange.ts'
import { EXIT, type ExitCode, failureOf } from './failure.ts'
import { onFile } from './file-error.ts'
import { harOf } from './har.ts'
import { measurementReport } from './histogram.ts'
import { information, packageVersion } from './information.ts'
import { type Load, runLoad } from './load.ts'
import { type Options, parseOptions, UsageError } from './options.ts'
import { Progress } from './progress.ts'
import { failureLines } from './report.ts'
import { Requests, readAll } from './request-of.ts'
import { measurementResult, print } from './result.ts'
import { TextLayout } from './text-layout.ts'
import { Transfer } from './transfer.ts'

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
    const { cacert, cert, key = cert } = options
    const read = (name: string): Promise<Buffer> => onFile('read', name, () => readFile(name))
    const files = {
      ...(cacert !== undefined && { ca: await read(cacert) }),
      ...(cert !== undefined && { cert: await read(cert) }),
      ...(key !== undefined && { key: await read(key) }),
    }
    const requests = await Requests.read(options, stdin)
    const format = options['write-out']
    const given = format?.startsWith('@') ? String(await readAll(format.slice(1), stdin)) : format
    const all = given === undefined ? options : { ...options, 'write-out': given }
    return await (options.isLoad ? measure : transferAll)(all, files, requests, context)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    stderr.write(`${failureLines(failureOf(error, 'connecting'), TextLayout.for(stderr, env)).join('\n')}\n`)
    return EXIT.usage
  }
}

async function transferAll(
  options: Options,
  files: TlsFiles,
  requests: Requests,
  context: CommandContext,
): Promise<ExitCode> {
  const { har, outputs, targets } = options
  const exchanges: Exchange[] = []
  let exitCode: ExitCode = EXIT.ok
  for (const [index, target] of targets.entries()) {
    const outgoing = await requests.for(target)
    const transfer = new Transfer({ ...options, ...target }, files, outgoing, outputs[index], context)
    const done = await transfer.run()
    if (har !== undefined) exchanges.push(done.exchange)
    if (done.exitCode !== EXIT.ok) exitCode = done.exitCode
  }
  if (har !== undefined) {
    const archive = print(harOf(exchanges, packageVersion(), options['har-secrets']))
    // Even without the secrets that are known as such, it is a record of what somebody did.
    if (har === '-') context.stdout.write(archive)
    else await onFile('write', har, (name) => replaceFile(name, { text: archive, mode: 0o600 }))
  }
  const jarFile = options['cookie-jar']
  if (jarFile === '-') context.stdout.write(requests.jar!.toNetscape())
  else if (jarFile !== undefined) await onFile('write', jarFile, (name) => saveJar(name, requests.jar!))
  return exitCode
}

async function measure(
  options: Options,
  files: TlsFiles,
  requests: Requests,
  { env, stdout, stderr, onInterrupt }: CommandContext,
): Promise<ExitCode> {
  const { json, fail, silent, expect } = options
  const progress = new Progress(stderr, TextLayout.for(stderr, env))
  const load: Load = {
    ...options,
    onProgress: (done) => {
      if (!silent) progress.drawLoad(done, options)
    },
    onInterrupt: onInterrupt ?? (() => () => {}),
  }
  const measurement = await runLoad(new Dialer(options, files), await requests.for(options.targets[0]!), load)
  progress.clear()
  stdout.write(
    json
      ? print(measurementResult(measurement))
      : measurementReport(measurement, TextLayout.for(stdout, env)),
  )
  const { failures, statuses, expectations } = measurement
  if (!expectations.every(({ isMet }) => isMet)) return EXIT.expectation
  // What is expected of errors takes the place of the usual rule.
  if (expect.some(({ measure }) => measure === 'errors')) return EXIT.ok
  const [mostFrequent] = [...failures.values()].sort((a, b) => b.count - a.count)
  if (mostFrequent !== undefined) return mostFrequent.exitCode
  const isRefused = [...statuses.keys()].some((status) => status >= 400)
  return isRefused && (fail || options['fail-with-body']) ? EXIT.status : EXIT.ok
}
