/** The caller of `fetch`, who gets a response or an error once. */
import { addCallSite, type CallSite, callSite, type PublicFunction } from '../../base/error/public-call.ts'
import { type Answer, addCaller, answerCaller, removeCaller } from '../../base/loop/answers.ts'
import type { Response } from '../response.ts'

/** The run of a fetch: `onDelivered` is called when the caller has its response. */
export type Answering = { onDelivered(): void }

export class Caller implements Answer {
  /** Cleared once the promise is settled, because these functions keep the response alive. */
  #resolve: ((response: Response) => void) | null
  #reject: ((reason: unknown) => void) | null
  /** The response, until it is delivered. */
  #response: Response | null = null
  #run: Answering | null = null

  /** For `RUNTIME_DEBUG=stacks`; null without it. */
  readonly callSite: CallSite | null

  constructor(
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
    called: PublicFunction,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.callSite = callSite(called)
    addCaller()
  }

  /** It has neither a response nor an error yet. */
  get isWaiting(): boolean {
    return this.#resolve !== null && this.#response === null
  }

  /** The promise is settled. */
  get isSettled(): boolean {
    return this.#resolve === null
  }

  answer(response: Response, run: Answering): void {
    if (!this.isWaiting) return
    this.#response = response
    this.#run = run
    answerCaller(this)
  }

  deliver(): void {
    const response = this.#response
    const run = this.#run
    if (response === null) return
    this.#resolve!(response)
    this.#forget()
    run!.onDelivered()
  }

  /** Replaces a response that is not delivered yet: until then, the caller may abort. */
  reject(reason: unknown): void {
    const reject = this.#reject
    if (reject === null) return
    if (this.#response === null) removeCaller()
    this.#forget()
    addCallSite(reason, this.callSite)
    reject(reason)
  }

  #forget(): void {
    this.#resolve = null
    this.#reject = null
    this.#response = null
    this.#run = null
  }
}
