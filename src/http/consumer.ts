/** Who gets the response of a call, and in which form. What there is to say before anybody has asked is kept. */

import { BodyBytes } from '../base/bytes/body-bytes.ts'
import type { Answered } from './failure.ts'
import { type HttpResponse, jsonOf } from './response.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What a caller can get of a whole body. */
export type Form = 'json' | 'text' | 'bytes'

type Settle = { resolve(value: unknown): void; reject(error: unknown): void }

type Asking =
  | (Settle & { readonly kind: 'body'; readonly form: Form; readonly schema: StandardSchema | undefined })
  | (Settle & { readonly kind: 'response' })

type State =
  /** Nobody has asked so far. */
  | { readonly kind: 'none' }
  | { readonly kind: 'kept-response'; readonly response: HttpResponse }
  | { readonly kind: 'kept-error'; readonly error: unknown }
  | Asking
  /** Nobody is to be answered any more: what answers would keep the response alive. */
  | { readonly kind: 'served' }

const NOBODY: State = { kind: 'none' }
const SERVED: State = { kind: 'served' }

export class Consumer {
  #state: State = NOBODY

  get isAsked(): boolean {
    const { kind } = this.#state
    return kind === 'body' || kind === 'response' || kind === 'served'
  }

  get wantsBody(): boolean {
    return this.#state.kind === 'body'
  }

  askForBody(form: Form, schema?: StandardSchema): Promise<unknown> {
    return new Promise((resolve, reject) => this.#ask({ kind: 'body', form, schema, resolve, reject }))
  }

  askForResponse(): Promise<HttpResponse> {
    if (this.isAsked) return Promise.reject(new TypeError('The body of this call was read already'))
    return new Promise((resolve, reject) =>
      this.#ask({ kind: 'response', resolve: resolve as (value: unknown) => void, reject }),
    )
  }

  #ask(asking: Asking): void {
    const before = this.#state
    this.#state = asking
    if (before.kind === 'kept-response') this.takeResponse(before.response)
    else if (before.kind === 'kept-error') this.takeError(before.error)
  }

  /** Nobody will ask. */
  dismiss(): void {
    this.#state = SERVED
  }

  takeResponse(response: HttpResponse): void {
    const state = this.#state
    if (state.kind === 'none') this.#state = { kind: 'kept-response', response }
    if (state.kind !== 'response') return
    this.#state = SERVED
    state.resolve(response)
  }

  /** `given`: null for an empty body. */
  takeBody(given: BodyBytes | null, answered: Answered): void {
    const state = this.#state
    if (state.kind !== 'body') return
    const { form, schema } = state
    const bytes = given ?? BodyBytes.none()
    try {
      const value =
        form === 'bytes'
          ? bytes.own()
          : form === 'text'
            ? bytes.text()
            : jsonOf(bytes.text(), answered, schema)
      bytes.release()
      state.resolve(value)
    } catch (error) {
      state.reject(error)
    }
  }

  /** Has no effect on a promise that is resolved. */
  takeError(error: unknown): void {
    const state = this.#state
    if (state.kind === 'body' || state.kind === 'response') state.reject(error)
    else if (state.kind !== 'served') this.#state = { kind: 'kept-error', error }
  }
}
