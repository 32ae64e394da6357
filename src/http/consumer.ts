/** Who gets the response of a call, and in which form. */

import { BodyBytes } from '../base/bytes/body-bytes.ts'
import type { Answered } from './failure.ts'
import { jsonOf } from './response.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What a caller can get of a whole body. */
export type Form = 'json' | 'text' | 'bytes'

export type Settle = { resolve(value: unknown): void; reject(error: unknown): void }

export type BodyConsumer = Settle & {
  readonly kind: 'body'
  readonly form: Form
  readonly schema: StandardSchema | undefined
}

export type Consumer =
  /** Nobody has asked so far; what there is to say is kept. */
  | { readonly kind: 'none' }
  | BodyConsumer
  | (Settle & { readonly kind: 'response' })
  | { readonly kind: 'served' }

export const NOBODY: Consumer = { kind: 'none' }
/** Nobody is to be answered any more: what answers would keep the response alive. */
export const SERVED: Consumer = { kind: 'served' }

/** `bytes`: null for an empty body. */
export function deliver(to: BodyConsumer, given: BodyBytes | null, answered: Answered): void {
  const { form, schema, resolve, reject } = to
  const bytes = given ?? BodyBytes.none()
  try {
    const value =
      form === 'bytes' ? bytes.own() : form === 'text' ? bytes.text() : jsonOf(bytes.text(), answered, schema)
    bytes.release()
    resolve(value)
  } catch (error) {
    reject(error)
  }
}
