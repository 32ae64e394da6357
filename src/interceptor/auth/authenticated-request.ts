/**
 * One request with credentials: waits for them if it has to, and is sent again when the origin refuses it and the
 * credentials have something else to offer.
 */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { HeldCall } from '../../relay/held-call.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import { replayOf } from '../../relay/replay.ts'
import { withHeaders } from '../../relay/request-headers.ts'
import { followedRedirects, withWritten } from '../../relay/response-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { Credentials, Proof, ProofWaiter } from './credentials.ts'

export interface AuthTarget {
  readonly origin: string
  readonly credentials: Credentials
}

const FIELD = 'authorization'

export class AuthenticatedRequest extends RelayedRequest<AuthTarget> {
  /** Of the attempt that runs; null when its final head has come. */
  #proof: Proof | null = null
  /** Until there is a proof. */
  #held: HeldCall | null = null
  /** A refusal that the caller does not get. */
  #refusal: DiscardedBody | null = null
  #repeats = 0
  #context: unknown = null

  /** Throws what the dispatcher throws. */
  start(): boolean {
    let proof: Proof | null
    try {
      proof = this.settings.credentials.prove(this.opts, this.#onProof)
    } catch (error) {
      return this.#fail(error)
    }
    if (proof !== null) return this.#send(proof)
    const leave = (): void => this.settings.credentials.leave(this.#onProof)
    this.#held = new HeldCall(this.opts, this.downstream, this.call.held, leave)
    this.downstream.announce()
    return true
  }

  readonly #onProof: ProofWaiter = (proof, error) => {
    if (this.#held?.release())
      this.downstream.contain(() => this.#try(() => (proof === null ? this.#fail(error) : this.#send(proof))))
  }

  #try(send: () => boolean): void {
    try {
      send()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): false {
    destroyBodyOf(this.opts, error)
    this.downstream.fail(error as Error)
    return false
  }

  #send(proof: Proof): boolean {
    this.#proof = proof
    const { field } = proof
    const headers = field === null ? null : withHeaders(this.opts.headers, { [FIELD]: field })
    const attempt = this.begin(this.downstream, this.#repeats > 0 || this.downstream.wantsQueued)
    return attempt.send(this.call.dispatch!, headers === null ? this.opts : { ...this.opts, headers })
  }

  override onStarted(attempt: Attempt, context: unknown): void {
    this.#context = context
    super.onStarted(attempt, context)
  }

  override onHead(attempt: Attempt, head: Head): void {
    if (this.#refusal !== null) return
    const { statusCode, headers } = head
    if (statusCode < 200) super.onHead(attempt, head)
    else if (this.#isRepeated(attempt, head)) {
      this.#refusal = new DiscardedBody(() => attempt.abort())
      attempt.resume()
      this.#refusal.begin(headers, this.opts.method !== 'HEAD')
    } else this.downstream.head(head, attempt.controller, withWritten(attempt.facts, FIELD))
  }

  /** What is learned from a refusal counts also if this request cannot be sent again. */
  #isRepeated({ controller }: Attempt, { statusCode, headers }: Head): boolean {
    const proof = this.#proof
    this.#proof = null
    if (proof === null || !this.downstream.isWanted || !this.#isFromOrigin(controller!)) return false
    const { credentials } = this.settings
    if (statusCode !== 401) credentials.onAnswered(proof, headers)
    else if (credentials.onRefused(proof, headers, this.#repeats))
      return replayOf(this.opts.body) === 'always'
    return false
  }

  /** A layer below may have followed a redirect: who answers then has no say about these credentials. */
  #isFromOrigin(controller: NonNullable<Attempt['controller']>): boolean {
    const followed = followedRedirects(controller, this.#context)
    return followed !== 'unknown' && followed.every(({ to }) => to.origin === this.settings.origin)
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (this.#refusal !== null) this.#refusal.take(chunk.length)
    else super.onData(attempt, chunk)
  }

  protected override passesBytes(): boolean {
    return this.#refusal === null
  }

  override pause(): void {
    if (this.#refusal === null) super.pause()
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    // The connection is free when this call has returned: a pool would open another one.
    if (this.#refusal !== null) queueMicrotask(() => this.#again())
    else super.onEnd(attempt, trailers)
    this.#refusal?.stop()
  }

  override onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void {
    this.downstream.upgrade(head, socket, attempt.controller, withWritten(attempt.facts, FIELD))
  }

  override onFailed(attempt: Attempt, error: Error): void {
    this.#refusal?.stop()
    // The refusal is known: that its body broke off does no harm.
    if (this.#refusal !== null && !this.downstream.aborted) this.#again()
    else super.onFailed(attempt, error)
  }

  #again(): void {
    if (this.#refusal === null || this.downstream.settled) return
    this.#refusal = null
    this.#repeats++
    this.downstream.contain(() => this.#try(() => this.start()))
  }
}
