/** A third-party dispatcher: implements `dispatch` alone and lets the test drive the handler. */
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { turn } from '../support/fake-clock.ts'

/** One dispatched request and the controls of its dispatcher. The controller is minimal. */
export class Exchange {
  readonly opts: DispatchOptions
  readonly handler: DispatchHandler
  readonly log: string[] = []
  readonly aborts: unknown[] = []
  /** The effect of the controller's `abort`, besides recording it. */
  onAbort: ((reason: unknown) => void) | null = null
  readonly controller: DispatchController

  constructor(opts: DispatchOptions, handler: DispatchHandler) {
    this.opts = opts
    this.handler = handler
    this.controller = this.newController()
  }

  newController(extra: Partial<DispatchController> = {}): DispatchController {
    const bare = {
      abort: (reason?: unknown): void => {
        this.aborts.push(reason)
        this.onAbort?.(reason)
      },
      pause: (): void => void this.log.push('pause'),
      resume: (): void => void this.log.push('resume'),
      ...extra,
    }
    return bare as DispatchController
  }

  /** Makes `abort` fail the request immediately, as the dispatchers of this library do. */
  failOnAbort(): this {
    this.onAbort = (reason) => this.handler.onResponseError?.(this.controller, reason as Error)
    return this
  }

  start(context: unknown = null): this {
    this.handler.onRequestStart?.(this.controller, context)
    return this
  }

  head(statusCode = 200, headers: HeaderObject = {}, statusText = 'OK'): this {
    this.handler.onResponseStart?.(this.controller, statusCode, headers, statusText)
    return this
  }

  data(...chunks: (string | Buffer)[]): this {
    for (const chunk of chunks) this.handler.onResponseData?.(this.controller, Buffer.from(chunk))
    return this
  }

  /** As the dispatchers of this library do: lends the memory to a handler that copies, and uses it again. */
  lend(text: string): this {
    const memory = Buffer.from(`--${text}--`)
    const { handler, controller } = this
    if (handler.onResponseBytes) handler.onResponseBytes(controller, memory, 2, memory.length - 2)
    else this.data(text)
    memory.fill('x')
    return this
  }

  end(trailers: HeaderObject = {}): this {
    this.handler.onResponseEnd?.(this.controller, trailers)
    return this
  }

  error(error: unknown): this {
    this.handler.onResponseError?.(this.controller, error as Error)
    return this
  }

  upgrade(statusCode: number, headers: HeaderObject, socket: Duplex): this {
    this.handler.onRequestUpgrade?.(this.controller, statusCode, headers, socket)
    return this
  }
}

export class ScriptedDispatcher extends Dispatcher {
  readonly exchanges: Exchange[] = []
  readonly #script: ((exchange: Exchange) => void) | null

  /** The script runs inside `dispatch`. */
  constructor(script: ((exchange: Exchange) => void) | null = null) {
    super()
    this.#script = script
  }

  override dispatch(opts: DispatchOptions, handler: DispatchHandler): boolean {
    const exchange = new Exchange(opts, handler)
    this.exchanges.push(exchange)
    this.#script?.(exchange)
    return true
  }

  get last(): Exchange {
    const exchange = this.exchanges.at(-1)
    assert.ok(exchange, 'nothing was dispatched')
    return exchange
  }
}

/** The errors that reach `uncaughtException` while `run` runs and until the loop has turned. */
export async function uncaughtDuring(run: () => unknown): Promise<unknown[]> {
  const seen: unknown[] = []
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => void seen.push(error))
  try {
    await run()
    await turn()
    await turn()
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of listeners) process.on('uncaughtException', listener)
  }
  return seen
}
