/** A large body, and a process that saves it: how much memory it takes, and what becomes of it when it is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import { createReadStream, statSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A prime: no read and no write begins at the same place of it again and again. */
const PERIOD = 65_521
const PIECE = Buffer.from(Array.from({ length: PERIOD }, (_, i) => (i * 7919) >> 3))
const TWICE = Buffer.concat([PIECE, PIECE])

function oneOf(emitter: EventEmitter, ...names: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of names) emitter.off(name, done)
      resolve()
    }
    for (const name of names) emitter.on(name, done)
  })
}

/** A part of the body. */
function* bytesFrom(start: number, end: number): Generator<Buffer> {
  for (let at = start; at < end; at += PERIOD) {
    const offset = at % PERIOD
    yield TWICE.subarray(offset, offset + Math.min(PERIOD, end - at))
  }
}

export class LargeOrigin {
  readonly size: number
  readonly url: string
  /** The first bytes that were asked for. */
  readonly starts: number[] = []
  readonly #server: http.Server

  private constructor(server: http.Server, size: number) {
    this.#server = server
    this.size = size
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      void this.#send(request, response)
    })
  }

  static async start(size: number): Promise<LargeOrigin> {
    const server = http.createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new LargeOrigin(server, size)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Of the first bytes of the body. */
  hash(size: number = this.size): string {
    const hash = createHash('sha256')
    for (const bytes of bytesFrom(0, size)) hash.update(bytes)
    return hash.digest('hex')
  }

  async #send(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    this.starts.push(start)
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': this.size - start,
      ...(start > 0 && { 'content-range': `bytes ${start}-${this.size - 1}/${this.size}` }),
    })
    response.on('error', () => {})
    for (const bytes of bytesFrom(start, this.size)) {
      if (response.destroyed) return
      if (!response.write(bytes)) await oneOf(response, 'drain', 'close')
    }
    response.end()
  }
}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

const REPORT_PEAK = `data:text/javascript,${encodeURIComponent(
  'process.on("exit",()=>process.stderr.write("peak "+process.resourceUsage().maxRSS))',
)}`

/** `node` with the command; its standard output is a pipe that nobody reads unless the caller does. */
export function startCommand(program: readonly string[], argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', REPORT_PEAK, ...program, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The exit code, and the most memory that it had, in MB. */
export async function ended(
  child: ChildProcess,
): Promise<{ code: number | null; peak: number; stderr: string }> {
  let stderr = ''
  child.stderr!.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  return {
    code,
    peak: (Number(/peak (\d+)/.exec(stderr)?.[1]) * 1024) / 1e6,
    stderr: stderr.replace(/peak \d+/, ''),
  }
}

/** Kills the process as soon as the file has this many bytes. Returns how many it has then. */
export async function killAt(child: ChildProcess, file: string, size: number): Promise<number> {
  while ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < size) {
    if (child.exitCode !== null) throw new Error('it has ended')
    await nextTurn()
  }
  child.kill('SIGKILL')
  await once(child, 'close')
  return statSync(file).size
}
