/** A group of tests with one real server, which runs as long as they do. */
import { after, before, describe } from 'node:test'
import type { Client, ClientOptions } from '../../src/index.ts'
import { Backend } from './backend.ts'
import { openClient, type RealServer, type Site, type Wire } from './real-server.ts'
import { Stage } from './stage.ts'

export class RunningServer<S extends Site = Site> {
  readonly server: RealServer<S>
  readonly stage: Stage = new Stage()
  #site: S | null = null
  #backend: Backend | null = null

  constructor(server: RealServer<S>) {
    this.server = server
  }

  get site(): S {
    if (this.#site === null) throw new Error(`${this.server.name} does not run yet`)
    return this.#site
  }

  get backend(): Backend {
    if (this.#backend === null) throw new Error('the backend does not run yet')
    return this.#backend
  }

  async start(): Promise<void> {
    this.#backend = await Backend.start(this.stage)
    this.#site = await this.server.start(this.stage, this.#backend)
  }

  /** Ends with the server, if the test did not end it. */
  open(wire: Wire, options: Omit<ClientOptions, 'connect'> = {}): Client {
    return this.keep(openClient(this.server, this.site, wire, options))
  }

  keep<T extends { destroy(): Promise<unknown> }>(client: T): T {
    this.stage.onEnd(() => client.destroy())
    return client
  }
}

/** Skipped, by name, if the program is not installed. */
export function describeProgram(name: string, program: string | null, tests: () => void): void {
  describe(name, program === null ? { skip: `${name} is not installed` } : {}, tests)
}

export function describeServer<S extends Site>(
  server: RealServer<S>,
  tests: (running: RunningServer<S>) => void,
): void {
  describeProgram(server.name, server.program, () => {
    const running = new RunningServer(server)
    before(() => running.start())
    after(() => running.stage.end())
    tests(running)
  })
}
