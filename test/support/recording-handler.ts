/** A dispatch handler that writes down what it is told, in order. */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'

export type HandlerMethod = Exclude<keyof DispatchHandler, 'onRequestQueued'>

/** Runs inside a method of the handler, after it was written down; may throw. */
export type Interference = (method: HandlerMethod, handler: RecordingHandler) => void

export class RecordingHandler implements DispatchHandler {
  readonly calls: HandlerMethod[] = []
  readonly statuses: number[] = []
  readonly errors: Error[] = []
  headers: HeaderObject | null = null
  trailers: HeaderObject | null = null
  statusText: string | null = null
  body = ''
  controller: DispatchController | null = null
  context: unknown
  socket: Duplex | null = null
  /** What `onResponseError` got as its first argument. */
  lastController: DispatchController | null | undefined
  /** Settles with the first final call. */
  readonly settled: Promise<this>
  readonly #log: string[] | null
  readonly #name: string
  readonly #interfere: Interference
  #settle: () => void = () => {}

  /** `log` is shared by several handlers: each call is noted there as `name.method`. */
  constructor(interfere: Interference = () => {}, log: string[] | null = null, name = '') {
    this.#interfere = interfere
    this.#log = log
    this.#name = name
    this.settled = new Promise((resolve) => {
      this.#settle = () => resolve(this)
    })
  }

  get error(): Error | undefined {
    return this.errors[0]
  }

  get status(): number | undefined {
    return this.statuses.at(-1)
  }

  #note(method: HandlerMethod): void {
    this.calls.push(method)
    this.#log?.push(`${this.#name}.${method}`)
    this.#interfere(method, this)
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.controller = controller
    this.context = context
    this.#note('onRequestStart')
  }

  onBodySent(): void {
    this.#note('onBodySent')
  }

  onRequestSent(): void {
    this.#note('onRequestSent')
  }

  onResponseStarted(): void {
    this.#note('onResponseStarted')
  }

  onResponseStart(
    _: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    this.statuses.push(statusCode)
    this.headers = headers
    this.statusText = statusText
    this.#note('onResponseStart')
  }

  onResponseData(_: DispatchController, chunk: Buffer): void {
    this.body += chunk.toString('latin1')
    this.#note('onResponseData')
  }

  onResponseEnd(_: DispatchController, trailers: HeaderObject): void {
    this.trailers = trailers
    this.#settle()
    this.#note('onResponseEnd')
  }

  onRequestUpgrade(_: DispatchController, statusCode: number, headers: HeaderObject, socket: Duplex): void {
    this.statuses.push(statusCode)
    this.headers = headers
    this.socket = socket
    this.#settle()
    this.#note('onRequestUpgrade')
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.lastController = controller
    this.errors.push(error)
    this.#settle()
    this.#note('onResponseError')
  }
}
