/** A stage that remembers its programs, so that a test can kill them all at once. */
import type { ProgramStart, ServerProcess } from './server-process.ts'
import { Stage } from './stage.ts'

export class KillableStage extends Stage {
  readonly #programs: ServerProcess[] = []

  override async start(start: ProgramStart): Promise<ServerProcess> {
    const server = await super.start(start)
    this.#programs.push(server)
    return server
  }

  killPrograms(): void {
    for (const server of this.#programs.splice(0)) server.kill()
  }
}
