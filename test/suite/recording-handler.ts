/** A dispatch handler that writes down every call and then does what the test wants. */
import type { Duplex } from 'node:stream'
import type { DispatchController, DispatchHandler, HeaderObject } from '../../src/index.ts'

export class RecordingHandler implements DispatchHandler {
  readonly calls: string[] = []
  readonly chunks: Buffer[] = []
  readonly sent: (string | Uint8Array)[] = []
  readonly heads: { statusCode: number; headers: HeaderObject; statusText: string }[] = []
  readonly controllers: DispatchController[] = []
  trailers: HeaderObject | null = null
  socket: Duplex | null = null
  error: Error | null = null
  errorController: DispatchController | null | undefined
  /** The last call has been made: end, error or upgrade. */
  readonly done: Promise<void>
  readonly #hooks: Partial<DispatchHandler>
  #finish!: () => void

  constructor(hooks: Partial<DispatchHandler> = {}) {
    this.#hooks = hooks
    this.done = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  get controller(): DispatchController {
    return this.controllers.at(-1)!
  }

  get body(): string {
    return Buffer.concat(this.chunks).toString()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.calls.push('onRequestStart')
    this.controllers.push(controller)
    this.#hooks.onRequestStart?.(controller, context)
  }

  onBodySent(chunk: string | Uint8Array): void {
    this.calls.push('onBodySent')
    this.sent.push(chunk)
    this.#hooks.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.calls.push('onRequestSent')
    this.#hooks.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.calls.push('onResponseStarted')
    this.#hooks.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    this.calls.push(`onResponseStart ${statusCode}`)
    this.heads.push({ statusCode, headers, statusText })
    this.#hooks.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.calls.at(-1) !== 'onResponseData') this.calls.push('onResponseData')
    this.chunks.push(chunk)
    this.#hooks.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.calls.push('onResponseEnd')
    this.trailers = trailers
    this.#hooks.onResponseEnd?.(controller, trailers)
    this.#finish()
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.calls.push(`onRequestUpgrade ${statusCode}`)
    this.socket = socket
    this.#finish()
    this.#hooks.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.calls.push('onResponseError')
    this.error = error
    this.errorController = controller
    this.#finish()
    this.#hooks.onResponseError?.(controller, error)
  }
}
