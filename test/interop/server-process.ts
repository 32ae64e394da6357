/**
 * One third-party program: started with its arguments, ready when its ports accept connections, controlled by signals,
 * and ended by its process id.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Delay between two attempts to connect to a program that is still starting: it needs the processor, too. */
const RETRY_PAUSE = 10
/** No server here needs more than a second; a machine may be very slow. */
const START_LIMIT = 60_000
/** A program that is busy with another signal may lose this one: HAProxy, while it restarts itself. */
const SIGNAL_REPEAT = 2_000
/** After this time, a program that does not exit is killed. */
const STOP_LIMIT = 15_000

/** Running programs. A test file that ends early kills them. */
const running = new Set<ServerProcess>()
process.on('exit', () => {
  for (const server of running) server.kill()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** The file of a program, or null if it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not here.
    }
  }
  return null
}

/** Null if a part that the tests need is not installed. */
export function withPart(program: string | null, part: string): string | null {
  return existsSync(part) ? program : null
}

export interface ProgramStart {
  readonly file: string
  readonly args: readonly string[]
  /** It is ready when it accepts connections on all of them. */
  readonly ports: readonly number[]
  readonly env?: NodeJS.ProcessEnv
}

export interface LoggedStart extends ProgramStart {
  /** Its output goes to this file: programs open /dev/stderr, which does not work with a pipe from Node.js. */
  readonly logFile: string
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly #file: string
  readonly #ended: Promise<unknown>
  readonly #logFile: string

  private constructor({ file, args, env, logFile }: LoggedStart) {
    this.#file = file
    this.#logFile = logFile
    const output = openSync(logFile, 'a')
    this.#child = spawn(file, args, {
      stdio: ['ignore', output, output],
      // A separate process group, identified by the process id: workers do not outlive their master.
      detached: true,
      env: { ...process.env, ...env },
    })
    closeSync(output)
    this.#ended = once(this.#child, 'exit')
    running.add(this)
  }

  static async start(start: LoggedStart): Promise<ServerProcess> {
    const server = new ServerProcess(start)
    const limit = performance.now() + START_LIMIT
    for (const port of start.ports) {
      while (!(await accepts(port))) {
        if (server.#over) {
          await server.stop()
          throw new Error(`${start.file} ended by itself: ${server.log}`)
        }
        if (performance.now() > limit) {
          await server.stop()
          throw new Error(`${start.file} does not accept connections on port ${port}: ${server.log}`)
        }
        await pause(RETRY_PAUSE)
      }
    }
    return server
  }

  get #over(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Its output so far. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8')
  }

  /** Sends a signal repeatedly until it has taken effect. */
  async signal(name: NodeJS.Signals, effect: Promise<unknown>): Promise<void> {
    if (this.#over) throw new Error(`${this.#file} is not running: ${this.log}`)
    const send = (): boolean => this.#child.kill(name)
    send()
    const repeat = setInterval(send, SIGNAL_REPEAT)
    await effect
    clearInterval(repeat)
  }

  async stop(): Promise<void> {
    if (!this.#over) {
      const force = setTimeout(() => this.kill(), STOP_LIMIT)
      await this.signal('SIGTERM', this.#ended)
      clearTimeout(force)
    }
    this.kill()
    running.delete(this)
  }

  /** Kills it immediately, with all processes that it has started. */
  kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
