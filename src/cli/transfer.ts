/** One URL: where its body goes, what is shown meanwhile, and what is written when it is over. */
import type { CommandContext } from './context.ts'
import { Dialer, type TlsFiles } from './dialer.ts'
import { type Exchange, exchange } from './exchange.ts'
import { EXIT, type ExitCode } from './failure.ts'
import { field, type Outgoing } from './message.ts'
import { type Options, UsageError } from './options.ts'
import { Progress } from './progress.ts'
import type { Sink } from './receiver.ts'
import { failureLines, hopLine, report, retryLine } from './report.ts'
import { exchangeResult, print } from './result.ts'
import { FileSink, headText, PipeSink, TerminalSink } from './sink.ts'
import { clean, type Output, TextLayout } from './text-layout.ts'
import type { Hop } from './wire.ts'
import { writeOut } from './write-out.ts'

/** Bytes of a body that are kept for a result that has all of it. */
const KEPT_FOR_RESULT = 64 * 1024 * 1024

type Head = Parameters<typeof headText>[0]

export class Transfer {
  readonly #options: Options
  readonly #context: CommandContext
  readonly #dialer: Dialer
  readonly #outgoing: Outgoing
  /** Null: the body goes to standard output. */
  readonly #file: FileSink | null
  readonly #progress: Progress
  #terminal: TerminalSink | null = null
  /** The file had all of it. */
  #isWhole = false

  /** `output` is the name of a file, `-`, null for the last part of the URL's path, undefined for none. */
  constructor(
    options: Options,
    files: TlsFiles,
    outgoing: Outgoing,
    output: string | null | undefined,
    context: CommandContext,
  ) {
    const { env, stderr } = context
    this.#options = options
    this.#context = context
    this.#dialer = new Dialer(options, files)
    const name = output === null ? remoteName(outgoing.url) : output
    this.#file = name === undefined || name === '-' ? null : new FileSink(name)
    this.#outgoing = this.#resumed(outgoing)
    this.#progress = new Progress(stderr, TextLayout.for(stderr, env))
    this.#isExplicit = output === '-'
  }

  /** Standard output was asked for, also if it is a terminal. */
  readonly #isExplicit: boolean

  async run(): Promise<{ readonly exchange: Exchange; readonly exitCode: ExitCode }> {
    const { json, har } = this.#options
    const result = await exchange(this.#dialer, this.#outgoing, {
      keep: har !== undefined || (json && this.#file === null) ? KEPT_FOR_RESULT : 0,
      rate: this.#options['limit-rate'],
      onHead: (head) => this.#onHead(head),
      onProgress: (received, expected) => this.#onProgress(received, expected),
      onRedirect: (hop) => this.#onRedirect(hop),
      onRetry: (repeated) => this.#note(retryLine(repeated, this.#options.retry)),
    })
    this.#progress.clear()
    this.#terminal?.end()
    this.#file?.close()
    this.#show(result)
    return { exchange: result, exitCode: this.#exitCodeOf(result) }
  }

  /** A range request for what the file lacks. */
  #resumed(outgoing: Outgoing): Outgoing {
    const offset = this.#offset
    if (offset === null) return outgoing
    return { ...outgoing, headers: [...outgoing.headers, ['range', `bytes=${offset}-`]] }
  }

  /** Null: from the beginning. An empty file has nothing to go on with. */
  get #offset(): number | null {
    const given = this.#options['continue-at']
    const offset = given === '-' ? this.#file!.size : given
    return offset === 0 ? null : offset
  }

  #onHead(head: Head): Sink | null {
    this.#printHead(head)
    if (head.status < 200) return null
    const { stdout } = this.#context
    const { fail, json, har } = this.#options
    this.#isWhole = head.status === 416 && this.#offset !== null && lengthOf(head) === this.#offset
    if (this.#isWhole || (fail && head.status >= 400)) return null
    if (this.#file !== null) return this.#beginFile(this.#file, head)
    if (json || har === '-') return null
    if (!stdout.isTTY || this.#isExplicit) return new PipeSink(stdout)
    this.#terminal = new TerminalSink(stdout, field(head.headers, 'content-type') ?? '')
    return this.#terminal
  }

  /** Bytes are only ever added where they belong: what a server sends from its beginning starts the file anew. */
  #beginFile(file: FileSink, head: Head): Sink | null {
    const offset = this.#offset
    if (offset !== null && head.status === 206) {
      if (startOf(head) !== offset) {
        throw new UsageError(
          `cannot resume ${file.name}: the server did not send what follows byte ${offset}`,
        )
      }
      file.begin(offset)
      return file
    }
    // A redirect or an error is not what the file has a part of.
    if (offset !== null && head.status >= 300) return null
    file.begin(0)
    return file
  }

  #onProgress(received: number, expected: number | null): void {
    const { stdout } = this.#context
    // It would be drawn into the text.
    if (this.#options.silent || (this.#terminal !== null && stdout.isTTY)) return
    this.#progress.draw(received, expected)
  }

  #onRedirect(hop: Hop): void {
    this.#printHead(hop)
    this.#note(hopLine(hop))
  }

  /** A line that is shown at once, to a person. */
  #note(line: string): void {
    const { env, stdout, stderr } = this.#context
    const { silent, verbose } = this.#options
    if (silent || !(verbose || stdout.isTTY || stderr.isTTY)) return
    this.#progress.clear()
    stderr.write(`${TextLayout.for(stderr, env).paint('dim', clean(line))}\n`)
  }

  #printHead(head: Head): void {
    const { include, head: asksForHead, json, har } = this.#options
    if (!(include || asksForHead) || json || har === '-') return
    const { stdout } = this.#context
    const protocol = this.#dialer.connections.at(-1)?.protocol
    const text = headText(head, protocol === 'http/1.1' ? 'HTTP/1.1' : 'HTTP/2')
    const shown = stdout.isTTY ? clean(text.replaceAll('\r\n', '\n')) : text
    if (this.#file === null || stdout.isTTY) stdout.write(shown, 'latin1')
    else this.#file.write(Buffer.from(text, 'latin1'))
  }

  #show(result: Exchange): void {
    const { env, stdout, stderr } = this.#context
    const { json, har, silent, verbose } = this.#options
    const savedTo = this.#file?.name ?? (this.#isExplicit ? 'standard output' : null)
    const format = this.#options['write-out']
    const layout = (output: Output): TextLayout => TextLayout.for(output, env)
    if (json) stdout.write(print(exchangeResult(result, savedTo)))
    const wantsPage = !json && har !== '-' && format === undefined && !silent
    // Standard output of a pipe, or one with a body in it, is no place for a report.
    const isFree = stdout.isTTY && !this.#isExplicit
    const page = !isFree || result.failure !== null ? stderr : stdout
    if (wantsPage && (isFree || verbose)) {
      const hasBody = this.#terminal !== null && !this.#terminal.isBinary && result.response!.size > 0
      const show = { verbose, savedTo, hasHead: this.#options.include || this.#options.head }
      const gap = page === stdout && hasBody ? '\n' : ''
      page.write(gap + report(result, layout(page), { ...show, isBinary: this.#terminal?.isBinary ?? false }))
    } else if (result.failure !== null && !json && (!silent || this.#options['show-error'])) {
      stderr.write(`${failureLines(result.failure, layout(stderr)).join('\n')}\n`)
    }
    if (format !== undefined && !json) {
      const text = writeOut(format, result, this.#file?.name ?? null)
      stdout.write(stdout.isTTY ? clean(text) : text)
    }
  }

  #exitCodeOf({ failure, response }: Exchange): ExitCode {
    if (failure !== null) return failure.exitCode
    const { fail } = this.#options
    const isRefused = response!.status >= 400 && !this.#isWhole
    return isRefused && (fail || this.#options['fail-with-body']) ? EXIT.status : EXIT.ok
  }
}

/** Where the bytes of a 206 begin. */
function startOf({ headers }: Head): number {
  return Number(/^bytes (\d+)-/.exec(field(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

/** How many bytes there are, as a 416 says. */
function lengthOf({ headers }: Head): number {
  return Number(/^bytes \*\/(\d+)$/.exec(field(headers, 'content-range') ?? '')?.[1] ?? Number.NaN)
}

/** The last part of the path. A server cannot choose the folder: no part of it has a slash. */
function remoteName({ pathname }: URL): string {
  const part = pathname.slice(pathname.lastIndexOf('/') + 1)
  if (part === '' || part === '.' || part === '..') {
    throw new UsageError('--remote-name needs a URL that ends with the name of a file')
  }
  return part
}
