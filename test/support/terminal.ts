/**
 * A program on a pseudo-terminal, which `script` of util-linux opens: what it shows there, keys that are pressed, and
 * how it ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' })

/** The reason when there are no terminals here. */
export const noTerminal: string | false = stdout?.includes('util-linux')
  ? false
  : 'script of util-linux is not installed'

export class Terminal {
  /** All that was shown, with the escape sequences. */
  output = ''
  readonly #process: ChildProcess
  readonly #ended: Promise<number>
  #onOutput: () => void = () => {}

  constructor(t: TestContext, words: readonly string[], columns: number, env: Record<string, string> = {}) {
    const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    const shell = `stty cols ${columns} rows 24; exec ${line}`
    const { PATH, HOME } = process.env
    this.#process = spawn('script', ['-qefc', shell, '/dev/null'], {
      env: { PATH, HOME, TERM: 'xterm', SHELL: '/bin/sh', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.after(() => this.#process.kill('SIGKILL'))
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
      this.#onOutput()
    })
    this.#ended = once(this.#process, 'close').then(([code]) => {
      this.#onOutput()
      return code as number
    })
  }

  /** Resolves when this is shown; rejects if the program ends without. */
  async shows(pattern: RegExp): Promise<void> {
    let hasEnded = false
    void this.#ended.then(() => {
      hasEnded = true
    })
    while (!pattern.test(this.output)) {
      if (hasEnded) throw new Error(`${pattern} was not shown:\n${this.output}`)
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve
      })
    }
  }

  press(keys: string): void {
    this.#process.stdin!.write(keys)
  }

  /** The exit code. */
  get ended(): Promise<number> {
    return this.#ended
  }
}
