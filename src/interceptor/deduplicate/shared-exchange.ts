/**
 * One request on behalf of all callers that make the same one at the same time. Until the first byte of the
 * body comes, others can join. One caller alone gets the body as it comes; several read it from memory, each
 * at its own pace, and the server is paused when all of them are. The request is aborted when no caller is
 * left.
 */
import type { Duplex } from 'node:stream'
import type { Dispatch } from '../../dispatcher/compose.ts'
import { RequestAbortedError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { Attempt, type AttemptOwner, type AttemptProgress } from '../../relay/attempt.ts'
import { BodyLog } from '../../relay/body-log.ts'
import type { Downstream } from '../../relay/downstream.ts'
import { isHeadTimeout } from '../../relay/error-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import { type SharedOwner, SharedResponse, type Sharer } from '../../relay/shared-response.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { dependsOnExcluded } from './key.ts'
import type { DeduplicateSettings } from './options.ts'

/** What the exchanges of one dispatcher have in common. */
export interface DeduplicateHost {
  readonly dispatch: Dispatch
  readonly settings: DeduplicateSettings
}

/**
 * - `waiting`: no final head yet.
 * - `head`: it has come, and nothing of the body. `isOwn`: it is for the caller alone whose request was sent.
 * - `body`: `log` is null if there is only one caller.
 * - `over`: ended, failed or given up.
 */
type State =
  | { readonly at: 'waiting' | 'over' }
  | { readonly at: 'head'; readonly head: Head; readonly isOwn: boolean }
  | { readonly at: 'body'; readonly log: BodyLog | null }

type Caller = Sharer<DispatchOptions>

const RESOLVED = Promise.resolve()

export class SharedExchange implements AttemptOwner, AttemptProgress, SharedOwner {
  readonly wantsQueued = true
  readonly wantsBodySent = false
  readonly #host: DeduplicateHost
  /** Null for a request that others cannot join. */
  readonly #onOver: ((exchange: SharedExchange) => void) | null
  readonly #attempt = new Attempt(this, this)
  readonly #shared = new SharedResponse<DispatchOptions>(this)
  /** The caller whose request is sent. */
  readonly #first: Caller
  #context: unknown = null
  #state: State = { at: 'waiting' }
  #trailers: HeaderObject = {}

  constructor(
    host: DeduplicateHost,
    downstream: Downstream,
    opts: DispatchOptions,
    onOver: ((exchange: SharedExchange) => void) | null,
  ) {
    this.#host = host
    this.#onOver = onOver
    this.#first = this.#shared.add(downstream, opts)
  }

  /** Others may join it. */
  get isOpen(): boolean {
    return this.#state.at === 'waiting' || (this.#state.at === 'head' && !this.#state.isOwn)
  }

  send(): boolean {
    try {
      return this.#attempt.send(this.#host.dispatch, this.#first.request)
    } catch (error) {
      this.onFailed(this.#attempt, error as Error)
      return true
    }
  }

  join(downstream: Downstream, opts: DispatchOptions): true {
    const caller = this.#shared.add(downstream, opts)
    downstream.announce()
    // Not within `dispatch()`: a handler is never called before its caller has the return value.
    void RESOLVED.then(() => {
      if (this.#attempt.controller === null || !this.#shared.callers.includes(caller)) return
      caller.start(this.#attempt, this.#context)
      if (this.#state.at === 'head') caller.show(this.#state.head, this.#attempt)
      this.onFlow()
    })
    return true
  }

  onFlow(): void {
    if (this.#shared.isPaused) this.#attempt.pause()
    else this.#attempt.resume()
  }

  onUnwanted(reason: unknown): void {
    this.#finish()
    this.#attempt.abort(reason)
  }

  announce(): void {
    for (const { downstream } of this.#shared.callers) downstream.announce()
  }

  bodySent(): void {}

  notify(name: 'onRequestSent' | 'onResponseStarted'): void {
    for (const { downstream } of this.#shared.callers) downstream.contain(() => downstream.notify(name))
  }

  onStarted(attempt: Attempt, context: unknown): void {
    this.#context = context
    for (const caller of this.#shared.callers) caller.start(attempt, context)
    this.onFlow()
  }

  onHead(attempt: Attempt, head: Head): void {
    /** Those who do not get the response. */
    let apart: Caller[] = []
    if (head.statusCode >= 200) {
      // What follows would be read as one body with what came before.
      if (this.#state.at !== 'waiting')
        throw new RequestAbortedError('Request aborted: the response has two heads')
      const isOwn = dependsOnExcluded(head.headers, this.#host.settings.excludeHeaderNames)
      this.#state = { at: 'head', head, isOwn }
      if (isOwn) {
        apart = this.#shared.takeAllBut(this.#first)
        if (this.#shared.callers.length === 0) this.onUnwanted(undefined)
        else this.onFlow()
      }
    }
    for (const caller of this.#shared.callers) caller.show(head, attempt)
    for (const caller of apart) this.#sendAlone(caller)
  }

  #sendAlone({ downstream, request }: Caller): void {
    if (downstream.settled) return
    downstream.contain(() => void new SharedExchange(this.#host, downstream, request, null).send())
  }

  onData(_attempt: Attempt, chunk: Buffer): void {
    const log = this.#body()
    if (log === null) {
      for (const { downstream } of this.#shared.callers) downstream.contain(() => downstream.data(chunk))
      return
    }
    log.append(chunk)
    this.#failTheSlow()
    log.dropBefore(Math.min(log.size, ...this.#shared.callers.map(({ position }) => position)))
  }

  #failTheSlow(): void {
    const { maxBufferSize } = this.#host.settings
    for (const caller of this.#shared.callers) {
      if (caller.unread <= maxBufferSize) continue
      const message = `Deduplicated waiting handler exceeded maxBufferSize (${maxBufferSize} bytes) while paused`
      caller.abort(undefined)
      caller.downstream.contain(() => caller.downstream.fail(new RequestAbortedError(message)))
    }
  }

  /** Where the body goes, from its first byte on; null if only one caller wants it. */
  #body(): BodyLog | null {
    if (this.#state.at !== 'head') return this.#state.at === 'body' ? this.#state.log : null
    const { head } = this.#state
    const { callers } = this.#shared
    const log = callers.length > 1 ? new BodyLog() : null
    this.#state = { at: 'body', log }
    for (const caller of callers) {
      // One that has joined in the same turn has seen nothing yet.
      caller.start(this.#attempt, this.#context)
      caller.show(head, this.#attempt)
      if (log !== null) caller.read(log, () => caller.end(this.#trailers, this.#attempt))
    }
    return log
  }

  onEnd(attempt: Attempt, trailers: HeaderObject): void {
    const log = this.#body()
    this.#trailers = trailers
    this.#finish()
    if (log !== null) log.complete()
    else for (const caller of this.#shared.callers) caller.end(trailers, attempt)
  }

  onUpgrade({ controller, facts }: Attempt, head: Head, socket: Duplex): void {
    this.#finish()
    // There is one connection.
    const [taken, ...others] = this.#shared.takeAllBut(null)
    for (const caller of others) this.#sendAlone(caller)
    taken!.downstream.upgrade(head, socket, controller, facts)
  }

  onFailed(_attempt: Attempt, error: Error): void {
    const isLate = this.#state.at === 'waiting' && isHeadTimeout(error)
    this.#finish()
    // It was the limit of the caller whose request was sent. The others have their own, and came later.
    const apart = isLate ? this.#shared.takeAllBut(this.#first) : []
    for (const caller of apart) this.#sendAlone(caller)
    let thrown: { readonly error: unknown } | null = null
    for (const caller of this.#shared.takeAllBut(null)) {
      caller.close()
      try {
        caller.downstream.fail(error)
      } catch (failure) {
        thrown ??= { error: failure }
      }
    }
    // The dispatcher reports it.
    if (thrown !== null) throw thrown.error
  }

  #finish(): void {
    if (this.#state.at === 'over') return
    this.#state = { at: 'over' }
    this.#onOver?.(this)
  }
}
