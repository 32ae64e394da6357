/** A dispatch handler that records its calls in order and then runs the test's interference. */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'

export type HandlerMethod = Exclude<keyof DispatchHandler, 'onRequestQueued'>

/** Runs inside a method of the handler, after the call was recorded; may throw. */
export type Interference = (method: HandlerMethod, handler: RecordingHandler) => void

export class RecordingHandler implements DispatchHandler {
  readonly calls: HandlerMethod[] = []
  readonly statuses: number[] = []
  readonly chunks: Buffer[] = []
  /** The chunks of the request body, as `onBodySent` got them. */
  readonly sent: (string | Uint8Array)[] = []
  readonly errors: Error[] = []
  readonly controllers: DispatchController[] = []
  headers: HeaderObject | null = null
  trailers: HeaderObject | null = null
  statusText: string | null = null
  context: unknown
  socket: Duplex | null = null
  /** The first argument of `onResponseError`. */
  lastController: DispatchController | null | undefined
  /** Settles with the first final call. */
  readonly settled: Promise<this>
  readonly #log: string[] | null
  readonly #name: string
  readonly #interfere: Interference
  readonly #hooks: Partial<DispatchHandler>
  #settle: () => void = () => {}

  /**
   * The interference is one function for all methods, or methods of the same names. Several handlers can share `log`:
   * it records each call as `name.method`.
   */
  constructor(
    interfere: Interference | Partial<DispatchHandler> = {},
    log: string[] | null = null,
    name = '',
  ) {
    this.#interfere = typeof interfere === 'function' ? interfere : () => {}
    this.#hooks = typeof interfere === 'function' ? {} : interfere
    this.#log = log
    this.#name = name
    this.settled = new Promise((resolve) => {
      this.#settle = () => resolve(this)
    })
  }

  get controller(): DispatchController | null {
    return this.controllers.at(-1) ?? null
  }

  get error(): Error | undefined {
    return this.errors[0]
  }

  get status(): number | undefined {
    return this.statuses.at(-1)
  }

  /** Latin-1. */
  get body(): string {
    return Buffer.concat(this.chunks).toString('latin1')
  }

  /** The calls independent of how the bytes were split: heads with their status, adjacent chunks as one. */
  get story(): string[] {
    const story: string[] = []
    let heads = 0
    for (const call of this.calls) {
      if (call === 'onResponseData' && story.at(-1) === call) continue
      const isHead = call === 'onResponseStart' || call === 'onRequestUpgrade'
      story.push(isHead ? `${call} ${this.statuses[heads++]}` : call)
    }
    return story
  }

  #note(method: HandlerMethod): void {
    this.calls.push(method)
    this.#log?.push(`${this.#name}.${method}`)
    this.#interfere(method, this)
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.controllers.push(controller)
    this.context = context
    this.#note('onRequestStart')
    this.#hooks.onRequestStart?.(controller, context)
  }

  onBodySent(chunk: string | Uint8Array): void {
    this.sent.push(chunk)
    this.#note('onBodySent')
    this.#hooks.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#note('onRequestSent')
    this.#hooks.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#note('onResponseStarted')
    this.#hooks.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    this.statuses.push(statusCode)
    this.headers = headers
    this.statusText = statusText
    this.#note('onResponseStart')
    this.#hooks.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk)
    this.#note('onResponseData')
    this.#hooks.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.trailers = trailers
    this.#settle()
    this.#note('onResponseEnd')
    this.#hooks.onResponseEnd?.(controller, trailers)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.statuses.push(statusCode)
    this.headers = headers
    this.socket = socket
    this.#settle()
    this.#note('onRequestUpgrade')
    this.#hooks.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.lastController = controller
    this.errors.push(error)
    this.#settle()
    this.#note('onResponseError')
    this.#hooks.onResponseError?.(controller, error)
  }
}
