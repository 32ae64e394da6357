/**
 * One request whose response body is discarded. A caller that aborts is released at once, and the rest is
 * still read, as long as that is cheaper than a new connection.
 */
import { RequestAbortedError } from '../../errors.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import type { Head } from '../../relay/response-source.ts'

/** `settings`: the most bytes. */
export class DumpedRequest extends RelayedRequest<number> {
  readonly #hasBody = this.opts.method !== 'HEAD'
  /** The body of the request is in memory, so that nothing has to be read to send it. */
  readonly #isWhole = isWhole(this.opts.body)
  #received = 0
  /** The caller had its final call, and the response is still read. */
  #rest: DiscardedBody | null = null

  /**
   * Lets the caller go and reads on. There is nothing to read if the request has not started, and a body that
   * is still being sent has a source that must not be read any more.
   */
  override abort(reason: unknown): void {
    if (!this.downstream.started || !(this.#isWhole || this.attempt.isSent)) {
      super.abort(reason)
      return
    }
    this.#rest = new DiscardedBody(() => this.attempt.abort(reason))
    this.#rest.begin(null, this.#hasBody)
    // The caller may have paused.
    this.attempt.resume()
  }

  override onHead(attempt: Attempt, head: Head): void {
    const { statusCode, headers } = head
    const length = Number(headers['content-length'])
    const hasBody = statusCode >= 200 && statusCode !== 304 && this.#hasBody
    if (hasBody && length > this.settings) this.#refuse(length)
    else super.onHead(attempt, head)
  }

  override onData(_attempt: Attempt, chunk: Buffer): void {
    this.#received += chunk.length
    this.#rest?.take(chunk.length)
    if (this.#received > this.settings) this.#refuse(this.#received)
  }

  #refuse(size: number): void {
    const message = `Response size (${size}) larger than maxSize (${this.settings})`
    this.attempt.abort(new RequestAbortedError(message))
  }

  protected override onOver(): void {
    this.#rest?.stop()
  }
}

function isWhole(body: unknown): boolean {
  return typeof body !== 'object' || body === null || ArrayBuffer.isView(body)
}
