/**
 * The handler of a request: passes the body on as it arrives, in memory that the connection lends, and holds
 * the peer back while the consumer is behind.
 */
import type { DispatchController, DispatchHandler, HeaderObject, Timings } from '../index.ts'
import type { Stage } from './failure.ts'
import { EMPTY_RESPONSE, type Incoming } from './message.ts'
import type { Field } from './secrets.ts'

/** Where a body goes. The bytes are lent for the length of the call; a promise means to wait. */
export interface Sink {
  write(bytes: Buffer): Promise<unknown> | null
}

export interface Reception {
  /** Bytes of the body to keep. */
  readonly keep: number
  /** Bytes per second; null for as many as come. */
  readonly rate: number | null
  /** For informational heads and for the final one. The body goes where this says. */
  readonly onHead: (response: Pick<Incoming, 'status' | 'statusText' | 'headers'>) => Sink | null
  readonly onProgress: (received: number, expected: number | null) => void
}

export class Receiver implements DispatchHandler {
  readonly done: Promise<void>
  stage: Stage = 'connecting'
  context: unknown = null
  /** Informational responses. */
  readonly early: { status: number; headers: readonly Field[] }[] = []
  response: Incoming | null = null
  timings: Timings | null = null
  readonly #reception: Reception
  #settle: (error: unknown) => void = () => {}
  #abort: (reason: Error) => void = () => {}
  #sink: Sink | null = null
  #expected: number | null = null
  readonly #kept: Buffer[] = []
  #began = 0

  constructor(reception: Reception) {
    this.#reception = reception
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === null ? resolve() : reject(error))
    })
    // Whoever starts the request looks at it only after `dispatch` has returned.
    this.done.catch(() => {})
  }

  abort(reason: Error): void {
    this.#abort(reason)
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abort = abort
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.stage = 'waiting for the response'
    this.context = context
    this.#abort = (reason) => controller.abort(reason)
    this.timings = controller.timings ?? null
  }

  onResponseStart(controller: DispatchController, status: number, _: HeaderObject, statusText = ''): void {
    const headers = pairs(controller.rawHeaders as readonly Buffer[])
    const sink = this.#reception.onHead({ status, statusText, headers })
    if (status < 200) {
      this.early.push({ status, headers })
      return
    }
    this.stage = 'receiving the body'
    this.timings = controller.timings ?? null
    this.response = { ...EMPTY_RESPONSE, status, statusText, headers }
    this.#sink = sink
    this.#began = performance.now()
    const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1]
    this.#expected = Number(length) || null
  }

  onResponseBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    const response = this.response!
    const { keep, onProgress } = this.#reception
    const bytes = memory.subarray(start, end)
    if (response.size < keep) this.#kept.push(Buffer.from(bytes.subarray(0, keep - response.size)))
    response.size += bytes.length
    const wait = this.#sink?.write(bytes) ?? null
    onProgress(response.size, this.#expected)
    const early = this.#early(response.size)
    if (wait === null && early <= 0) return
    controller.pause()
    const calm = early <= 0 ? null : new Promise((resolve) => setTimeout(resolve, early))
    Promise.all([wait, calm]).then(
      () => controller.resume(),
      (error) => controller.abort(error),
    )
  }

  /** From a layer that does not lend its memory. */
  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.onResponseBytes(controller, chunk, 0, chunk.length)
  }

  onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    this.#finish()
    this.response!.trailers = Object.entries(trailers).flatMap(([name, value]) =>
      [value].flat().map((one): Field => [name, String(one)]),
    )
    this.#settle(null)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#finish()
    // Before it starts, nothing of it takes time.
    if (controller) this.timings ??= (error as { timings?: Timings }).timings ?? null
    this.#settle(error)
  }

  #finish(): void {
    if (this.response !== null) this.response.body = Buffer.concat(this.#kept)
  }

  /** Milliseconds that the bytes have come too early for the rate. */
  #early(size: number): number {
    const { rate } = this.#reception
    return rate === null ? 0 : (size / rate) * 1000 - (performance.now() - this.#began)
  }
}

function pairs(flat: readonly Buffer[]): Field[] {
  const text = (bytes: Buffer): string => bytes.toString('latin1')
  return Array.from(
    { length: flat.length / 2 },
    (_, i): Field => [text(flat[2 * i]!), text(flat[2 * i + 1]!)],
  )
}
