/**
 * Discards the body of one response. A caller that aborts is released at once, and the rest is still read, as far as a
 * connection is worth it.
 */
import type { Duplex } from 'node:stream'
import { RequestAbortedError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { RelayController, type RelayOwner } from '../../relay/relay-controller.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/** `waiting`: not started. A discarded body: the caller had its final call, and the response is still read. */
type State = 'waiting' | 'running' | DiscardedBody | 'over'

export class DumpHandler extends ForwardingHandler implements RelayOwner {
  readonly #controller = new RelayController(this)
  readonly #hasBody: boolean
  readonly #maxSize: number
  #state: State = 'waiting'
  /** Nothing more is read from the source of a request body: there is none, or the request has left. */
  #isSent: boolean
  #wire: DispatchController | null = null
  #received = 0

  constructor(handler: DispatchHandler, { method, body }: DispatchOptions, maxSize: number) {
    super(handler)
    this.#hasBody = method !== 'HEAD'
    this.#maxSize = maxSize
    this.#isSent = typeof body !== 'object' || body === null || ArrayBuffer.isView(body)
  }

  protected override forwardQueued(abort: (reason?: unknown) => void): void {
    this.#controller.wait(abort)
    super.forwardQueued((reason) => this.#controller.abort(reason))
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#wire = controller
    if (typeof this.#state === 'object') return
    this.#controller.follow(controller)
    if (this.#controller.aborted) return
    this.#state = 'running'
    super.onRequestStart(this.#controller, context)
  }

  protected override forwardBodySent(chunk: string | Uint8Array): void {
    if (this.#state === 'running') super.forwardBodySent(chunk)
  }

  override onRequestSent(): void {
    this.#isSent = true
    if (this.#state === 'running') super.onRequestSent()
  }

  override onResponseStarted(): void {
    if (this.#state === 'running') super.onResponseStarted()
  }

  /**
   * Lets the caller go and reads on. There is nothing to read if the request has not started, and a body that is still
   * being sent has a source that must not be read any more.
   */
  onAbort(reason: unknown): void {
    if (this.#state !== 'running' || !this.#isSent) {
      this.#controller.giveUp(reason)
      return
    }
    const wire = this.#wire
    const rest = new DiscardedBody(() => wire?.abort(reason))
    this.#state = rest
    // The caller may have paused.
    wire?.resume()
    try {
      super.onResponseError(this.#controller, (reason ?? new RequestAbortedError()) as Error)
    } finally {
      rest.begin(null, this.#hasBody)
    }
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    const length = Number(headers['content-length'])
    if (statusCode >= 200 && statusCode !== 304 && this.#hasBody && length > this.#maxSize) {
      this.#refuse(controller, length)
    } else if (this.#state === 'running') {
      if (statusCode >= 200) this.#controller.show(controller)
      super.onResponseStart(this.#controller, statusCode, headers, statusText)
    }
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.#received += chunk.length
    if (typeof this.#state === 'object') this.#state.take(chunk.length)
    if (this.#state !== 'over' && this.#received > this.#maxSize) this.#refuse(controller, this.#received)
  }

  #refuse(controller: DispatchController, size: number): void {
    const error = new RequestAbortedError(`Response size (${size}) larger than maxSize (${this.#maxSize})`)
    this.onResponseError(controller, error)
    controller.abort(error)
  }

  override onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    if (this.#finish()) super.onResponseEnd(this.#controller, trailers)
  }

  override onRequestUpgrade(
    _controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    if (this.#finish()) super.onRequestUpgrade(this.#controller, statusCode, headers, socket)
    else socket.destroy()
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#finish()) super.onResponseError(controller ? this.#controller : controller, error)
  }

  /** False if the caller had its final call already. */
  #finish(): boolean {
    const isOpen = this.#state === 'waiting' || this.#state === 'running'
    if (typeof this.#state === 'object') this.#state.stop()
    this.#state = 'over'
    this.#controller.settle()
    return isOpen
  }
}
