/** The resources of one group of tests, which must be released: programs, our own servers, clients, folders. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProgramStart, ServerProcess } from './server-process.ts'

export class Stage {
  readonly #folders: string[] = []
  readonly #ends: (() => Promise<unknown>)[] = []

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'interop-'))
    // Servers that were started by root read it as another user.
    chmodSync(folder, 0o755)
    this.#folders.push(folder)
    return folder
  }

  /** Registers something to end with the rest. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }

  async start(start: ProgramStart): Promise<ServerProcess> {
    const server = await ServerProcess.start({ ...start, logFile: join(this.folder(), 'log') })
    this.onEnd(() => server.stop())
    return server
  }

  async end(): Promise<void> {
    // Clients before the servers that they talk to.
    for (const end of this.#ends.splice(0).reverse()) await end()
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  }
}
