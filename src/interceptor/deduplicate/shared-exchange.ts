/**
 * One request on behalf of all callers that ask for the same at the same time. Until the first byte of the body comes,
 * others can join. One caller alone gets the body as it comes; several read it from memory, each at its own pace, and the
 * server is paused when all of them are. The request is aborted when no caller is left.
 */
import type { Duplex } from 'node:stream'
import type { Dispatch } from '../../dispatcher/compose.ts'
import { RequestAbortedError } from '../../errors.ts'
import { answerOlderCalls } from '../../handler/older-calls.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { contain } from '../../relay/body-delivery.ts'
import { BodyLog } from '../../relay/body-log.ts'
import type { Caller } from '../../relay/caller.ts'
import { codeOf } from '../../relay/error-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { copyFields, type RawFields } from '../../request/received-fields.ts'
import { dependsOnExcluded } from './key.ts'
import type { DeduplicateSettings } from './options.ts'
import { copyRaw, Party, type PartyHost } from './party.ts'
import type { PendingRequests } from './pending-requests.ts'

/** What the exchanges of one dispatcher have in common. */
export interface DeduplicateHost {
  readonly dispatch: Dispatch
  readonly settings: DeduplicateSettings
  readonly pending: PendingRequests<SharedExchange>
}

/**
 * - `waiting`: no final head yet.
 * - `head`: it has come, and nothing of the body.
 * - `body`: `log` is null if there is only one caller.
 * - `over`: ended, failed or given up; `reason` is that of the last caller.
 */
type State =
  | { readonly at: 'waiting' }
  | { readonly at: 'head'; readonly head: Head }
  | { readonly at: 'body'; readonly log: BodyLog | null }
  | { readonly at: 'over'; readonly reason?: unknown }

const RESOLVED = Promise.resolve()

export class SharedExchange implements DispatchHandler, PartyHost {
  readonly #host: DeduplicateHost
  /** Null for a request that others cannot join. */
  readonly #key: string | null
  /** The caller whose request is sent. */
  readonly #first: Party
  #parties: Party[]
  upstream: DispatchController | null = null
  #abortQueued: ((reason?: unknown) => void) | null = null
  #context: unknown = null
  #state: State = { at: 'waiting' }
  /** The upstream is paused. */
  #stopped = false
  #trailers: HeaderObject = {}
  #rawTrailers: RawFields = null

  constructor(host: DeduplicateHost, key: string | null, caller: Caller, opts: DispatchOptions) {
    this.#host = host
    this.#key = key
    this.#first = new Party(caller, opts, this)
    this.#parties = [this.#first]
  }

  send(): boolean {
    if (this.#key !== null) this.#host.pending.add(this.#key, this)
    try {
      return this.#host.dispatch(this.#first.opts, this)
    } catch (error) {
      this.onResponseError(null, error as Error)
      return true
    }
  }

  join(caller: Caller, opts: DispatchOptions): void {
    const party = new Party(caller, opts, this)
    this.#parties.push(party)
    caller.announce()
    // Not within `dispatch()`: a handler is never called before its caller has the return value.
    void RESOLVED.then(() => this.#catchUp(party))
  }

  #catchUp(party: Party): void {
    if (this.upstream === null || !this.#parties.includes(party)) return
    party.start(this.#context)
    if (this.#state.at === 'head') party.show(this.#state.head, this.upstream)
    this.onFlow()
  }

  onFlow(): void {
    if (this.upstream === null || this.#state.at === 'over') return
    const stop = this.#parties.every(({ caller }) => caller.paused)
    if (stop === this.#stopped) return
    this.#stopped = stop
    if (stop) this.upstream.pause()
    else this.upstream.resume()
  }

  onLeave(party: Party, reason: unknown): void {
    const index = this.#parties.indexOf(party)
    if (index === -1) return
    this.#parties.splice(index, 1)
    if (this.#parties.length === 0) this.#giveUp(reason)
    else this.onFlow()
  }

  #giveUp(reason: unknown): void {
    if (!this.#finish(reason)) return
    if (this.upstream !== null) this.upstream.abort(reason)
    else this.#abortQueued?.(reason)
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abortQueued = abort
    if (this.#state.at === 'over') abort(this.#state.reason)
    else for (const { caller } of [...this.#parties]) caller.announce()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    if (this.#state.at === 'over') {
      controller.abort(this.#state.reason)
      return
    }
    this.upstream = controller
    this.#context = context
    this.#stopped = false
    for (const party of [...this.#parties]) party.start(context)
    this.onFlow()
  }

  onRequestSent(): void {
    for (const party of [...this.#parties]) party.onRequestSent()
  }

  onResponseStarted(): void {
    for (const party of [...this.#parties]) party.onResponseStarted()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (this.#state.at === 'over') return
    const head: Head = { statusCode, headers, statusText }
    if (statusCode < 200) {
      for (const party of [...this.#parties]) party.inform(head, controller)
      return
    }
    this.#state = { at: 'head', head }
    const apart = dependsOnExcluded(headers, this.#host.settings) ? this.#separate() : []
    for (const party of [...this.#parties]) party.show(head, controller)
    for (const party of apart) this.#sendAlone(party)
  }

  /** The response is for the caller alone whose request was sent. Returns the others. */
  #separate(): Party[] {
    this.#close()
    const apart = this.#parties.filter((party) => party !== this.#first)
    this.#parties = this.#parties.filter((party) => party === this.#first)
    if (this.#parties.length === 0) this.#giveUp(undefined)
    else this.onFlow()
    return apart
  }

  #sendAlone({ caller, opts }: Party): void {
    if (!caller.settled) contain(() => void new SharedExchange(this.#host, null, caller, opts).send())
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    const log = this.#body()
    if (log === null) {
      this.#parties[0]?.take(chunk)
      return
    }
    log.append(chunk)
    this.#failTheSlow()
    let needed = Number.POSITIVE_INFINITY
    for (const { index } of this.#parties) needed = Math.min(needed, index)
    if (needed !== Number.POSITIVE_INFINITY) log.dropBefore(needed)
  }

  #failTheSlow(): void {
    const { maxBufferSize } = this.#host.settings
    for (const party of [...this.#parties]) {
      if (party.unread <= maxBufferSize) continue
      const message = `Deduplicated waiting handler exceeded maxBufferSize (${maxBufferSize} bytes) while paused`
      contain(() => party.fail(new RequestAbortedError(message)))
    }
  }

  /** Where the body goes, from its first byte on; null if only one caller wants it. */
  #body(): BodyLog | null {
    if (this.#state.at === 'body') return this.#state.log
    if (this.#state.at !== 'head') return null
    const { head } = this.#state
    this.#close()
    const parties = [...this.#parties]
    const log = parties.length > 1 ? new BodyLog() : null
    this.#state = { at: 'body', log }
    for (const party of parties) {
      // One that has joined in the same turn has seen nothing yet.
      party.start(this.#context)
      party.show(head, this.upstream!)
      if (log !== null && !party.caller.settled) party.read(log)
    }
    return log
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    if (this.#state.at === 'over') return
    const log = this.#body()
    this.#trailers = trailers
    this.#rawTrailers = controller.rawTrailers ?? null
    this.#finish()
    if (log !== null) log.complete()
    else if (this.#parties[0] !== undefined) this.onRead(this.#parties[0])
  }

  onRead({ caller }: Party): void {
    const copy: HeaderObject = {}
    copyFields(copy, this.#trailers)
    caller.end(copy, copyRaw(this.#rawTrailers))
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    const parties = this.#parties
    const taken = parties.find(({ caller }) => !caller.settled)
    if (!this.#finish() || taken === undefined) {
      socket.destroy()
      return
    }
    // There is one connection.
    for (const party of parties) if (party !== taken) this.#sendAlone(party)
    taken.caller.upgrade(statusCode, headers, socket, controller)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    const isLate = this.#state.at === 'waiting' && codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT'
    if (!this.#finish()) return
    // The limit of the caller whose request was sent: the others have their own, and have asked later.
    const apart = isLate ? this.#parties.filter((party) => party !== this.#first) : []
    if (isLate) this.#parties = this.#parties.filter((party) => party === this.#first)
    for (const party of apart) this.#sendAlone(party)
    let thrown: { readonly error: unknown } | null = null
    for (const party of [...this.#parties]) {
      try {
        party.fail(error)
      } catch (failure) {
        thrown ??= { error: failure }
      }
    }
    // The dispatcher reports it.
    if (thrown !== null) throw thrown.error
  }

  /** None joins it from now on. */
  #close(): void {
    if (this.#key !== null) this.#host.pending.close(this.#key, this)
  }

  /** False if it was over. */
  #finish(reason?: unknown): boolean {
    if (this.#state.at === 'over') return false
    this.#state = { at: 'over', reason }
    if (this.#key !== null) this.#host.pending.remove(this.#key, this)
    return true
  }
}

answerOlderCalls(SharedExchange)
