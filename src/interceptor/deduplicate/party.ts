/**
 * One of the callers that share an exchange. It fails alone: what its handler throws, its abort and its slowness do not
 * reach the others.
 */

import type { HeaderObject } from '../../protocol/header-block.ts'
import { BodyDelivery, type BodyOutlet, contain } from '../../relay/body-delivery.ts'
import type { BodyLog } from '../../relay/body-log.ts'
import { LogReader } from '../../relay/body-log.ts'
import type { Caller, RawHead, ResponseSource } from '../../relay/caller.ts'
import { responseFacts, stateFacts } from '../../relay/response-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchController } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { copyFields, type RawFields, rawList } from '../../request/received-fields.ts'

/** What a party needs of its exchange. */
export interface PartyHost {
  readonly upstream: DispatchController | null
  /** The party has paused or resumed. */
  onFlow(): void
  /** The party takes nothing more. */
  onLeave(party: Party, reason: unknown): void
  /** The last call of a response that the party has read completely. */
  onRead(party: Party): void
}

export class Party implements ResponseSource, BodyOutlet {
  readonly caller: Caller
  /** The request as it would have been sent for this caller alone. */
  readonly opts: DispatchOptions
  readonly #host: PartyHost
  #hasHead = false
  #body: { readonly reader: LogReader; readonly delivery: BodyDelivery } | null = null

  constructor(caller: Caller, opts: DispatchOptions, host: PartyHost) {
    this.caller = caller
    this.opts = opts
    this.#host = host
    caller.source = this
  }

  get upstream(): DispatchController | null {
    return this.#host.upstream
  }

  /** Bytes that are kept for it. */
  get unread(): number {
    return this.#body?.reader.unread ?? 0
  }

  /** The block of the body that it needs next. */
  get index(): number {
    return this.#body?.reader.index ?? 0
  }

  abort(reason: unknown): void {
    this.#leave(reason)
  }

  pause(): void {
    this.#host.onFlow()
  }

  resume(): void {
    this.#body?.delivery.run()
    this.#host.onFlow()
  }

  start(context: unknown): void {
    this.#guard(() => this.caller.start(context))
  }

  onRequestSent(): void {
    this.#guard(() => this.caller.call('onRequestSent'))
  }

  onResponseStarted(): void {
    this.#guard(() => this.caller.call('onResponseStarted'))
  }

  /** The final head, once. */
  show(head: Head, upstream: DispatchController): void {
    if (this.#hasHead) return
    this.#hasHead = true
    stateFacts(this.caller, responseFacts(upstream))
    this.inform(head, upstream)
  }

  /** A head. Handlers may change what they get, so each has its copy. */
  inform({ statusCode, headers, statusText }: Head, upstream: DispatchController): void {
    const copy: HeaderObject = {}
    copyFields(copy, headers)
    this.#guard(() => this.caller.head(statusCode, copy, statusText, new RawCopy(upstream)))
  }

  /** A piece of a body that no other party wants. */
  take(chunk: Buffer): void {
    this.#guard(() => this.caller.data(chunk))
  }

  /** A body that others want too. */
  read(log: BodyLog): void {
    const reader = new LogReader(log)
    const delivery = new BodyDelivery(this.caller, reader, this)
    this.#body = { reader, delivery }
    // Registers it with the log.
    delivery.run()
  }

  onBodyEnd(): void {
    this.#body?.delivery.close()
    contain(() => this.#host.onRead(this))
  }

  onBodyError(error: Error): void {
    contain(() => this.caller.abort(error))
  }

  /** Throws what the handler throws. */
  fail(error: Error): void {
    this.#leave(error)
    this.caller.fail(error)
  }

  #leave(reason: unknown): void {
    this.#body?.delivery.close()
    this.#host.onLeave(this, reason)
  }

  #guard(call: () => void): void {
    if (this.caller.settled) return
    try {
      call()
    } catch (error) {
      contain(() => this.caller.abort(error))
    }
  }
}

/** The raw list of a head for one caller alone; copied when it is read. */
class RawCopy implements RawHead {
  readonly #upstream: DispatchController

  constructor(upstream: DispatchController) {
    this.#upstream = upstream
  }

  get rawHeaders(): Buffer[] | null {
    return copyRaw(this.#upstream.rawHeaders)
  }
}

export function copyRaw(fields: RawFields | undefined): Buffer[] | null {
  return rawList(fields)?.map((part) => Buffer.from(part)) ?? null
}
