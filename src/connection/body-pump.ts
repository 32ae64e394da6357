/**
 * Moves a request body from its source to a connection, with backpressure. The same pump serves all sources
 * that are not plain bytes, and both protocols.
 */
import { isUint8Array } from 'node:util/types'
import { RequestAbortedError } from '../errors.ts'
import {
  type BodySource,
  type BodyStream,
  destroyStream,
  destroysItself,
  hasEnded,
  isGone,
  lostMemory,
  withFixedLength,
} from '../request/body-source.ts'
import type { FormBody } from '../request/form-body.ts'
import type { Request } from '../request/request.ts'

export interface BodyPumpSink {
  /** The functions of its caller run in the context of its call. */
  readonly request: Pick<Request, 'inContext'>
  /** A non-empty piece. False: wait for `resume()` before bringing more. */
  onChunk(chunk: string | Uint8Array): boolean
  onSourceEnd(): void
  /** The source failed or brought something that is not a piece of a body. */
  onSourceError(error: Error): void
}

export type PumpedSource = Exclude<BodySource, { kind: 'none' | 'bytes' | 'form' }> | FormSource

/** A form whose multipart encoding was decided together with the request's head. */
export interface FormSource {
  readonly kind: 'encoded-form'
  readonly body: FormBody
}

export class BodyPump {
  readonly #sink: BodyPumpSink
  #state: 'pumping' | 'waiting' | 'stopped' = 'pumping'
  #stream: BodyStream | null = null
  #wake: (() => void) | null = null

  constructor(sink: BodyPumpSink) {
    this.#sink = sink
  }

  start(source: PumpedSource): void {
    try {
      this.#sink.request.inContext(this.#begin, this, source)
    } catch (error) {
      // A method of the caller's stream, or of what is none.
      this.#fail(error as Error)
    }
  }

  #begin(source: PumpedSource): void {
    switch (source.kind) {
      case 'stream':
        this.#follow(source.stream)
        return
      case 'iterable':
        void this.#iterate(source.source)
        return
      case 'blob':
        void this.#iterate(source.blob.stream())
        return
      case 'encoded-form':
        void this.#iterate(source.body.chunks())
    }
  }

  /** The sink can take more. */
  resume(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'pumping'
    try {
      if (this.#stream?.resume) this.#sink.request.inContext(this.#stream.resume, this.#stream)
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#release()
  }

  /** Nothing more is wanted. A pending `next()` of an iterator cannot be interrupted; it ends at its next step. */
  stop(): void {
    this.#state = 'stopped'
    this.#stream = null
    this.#release()
  }

  #release(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  #follow(stream: BodyStream): void {
    if (hasEnded(stream)) {
      this.#finish()
      return
    }
    if (stream.destroyed === true) {
      this.#fail(stream.errored ?? new RequestAbortedError())
      return
    }
    this.#stream = stream
    stream.on('end', () => this.#finish(stream))
    stream.on('error', (error: Error) => this.#fail(error))
    stream.on('close', () => {
      // Every stream closes, and an error takes long to make.
      if (!this.#isStopped()) this.#fail(stream.errored ?? new RequestAbortedError())
    })
    stream.on('data', (chunk: unknown) => {
      try {
        this.#deliver(chunk)
      } catch (error) {
        // Not into the source, which has nothing to do with it.
        this.#fail(error as Error)
      }
    })
    stream.resume?.()
  }

  async #iterate(source: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const chunk of source) {
        if (this.#state === 'stopped') return
        this.#deliver(chunk)
        if (this.#state === 'waiting') await this.#drained()
        if (this.#isStopped()) return
      }
    } catch (error) {
      this.#fail(error as Error)
      return
    }
    this.#finish()
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #deliver(chunk: unknown): void {
    if (this.#state === 'stopped') return
    if (typeof chunk !== 'string' && !isUint8Array(chunk)) {
      this.#fail(badChunk(chunk))
      return
    }
    const piece = typeof chunk === 'string' ? chunk : withFixedLength(chunk)
    if (piece.length === 0 && typeof piece !== 'string' && isGone(piece.buffer)) {
      this.#fail(lostMemory())
      return
    }
    if (piece.length === 0 || this.#sink.onChunk(piece) || this.#isStopped()) return
    this.#state = 'waiting'
    this.#stream?.pause?.()
  }

  /** The sink may have stopped the pump inside a call; the type checker does not see that. */
  #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  #finish(stream: BodyStream | null = null): void {
    if (this.#state === 'stopped') return
    this.stop()
    // Stopped before: some streams emit `close` within the call.
    if (stream !== null && !destroysItself(stream)) destroyStream(stream, null)
    try {
      this.#sink.onSourceEnd()
    } catch (error) {
      this.#sink.onSourceError(error as Error)
    }
  }

  #fail(error: Error): void {
    if (this.#state === 'stopped') return
    this.stop()
    this.#sink.onSourceError(error)
  }
}

function badChunk(chunk: unknown): TypeError {
  const received = chunk === null ? 'null' : typeof chunk
  const error = new TypeError(
    `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array. Received ${received}`,
  )
  return Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
}
