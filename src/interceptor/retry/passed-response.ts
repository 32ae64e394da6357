/** The response that the caller's handler gets: how much of it has been passed on, and whether the rest can still come. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { responseFacts } from '../../relay/response-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchController } from '../../request/dispatch-handler.ts'
import type { RetrySettings } from './options.ts'
import { Resumption } from './resumption.ts'

/** Why a response cannot be passed on as the first one; null if it can. */
export function firstRefusal(
  method: string,
  statusCode: number,
  headers: HeaderObject,
  { resume }: RetrySettings,
): string | null {
  return method === 'GET' && resume !== false ? Resumption.refusalOfFirst(statusCode, headers) : null
}

/** The origin has no such bytes: they were changed on the way, or are those of an earlier time. */
function isOnlyHere(attempt: DispatchController): boolean {
  const { isStored, isTransformed } = responseFacts(attempt)
  return isStored || isTransformed
}

export class PassedResponse {
  readonly #statusCode: number
  readonly #headers: HeaderObject
  #received = 0
  #resumption: Resumption | null = null

  constructor(statusCode: number, headers: HeaderObject) {
    this.#statusCode = statusCode
    this.#headers = headers
  }

  /** Whether another attempt can complete a response that broke off. */
  canGoOn(method: string, attempt: DispatchController | null, { resume }: RetrySettings): boolean {
    // RFC 9110 §14.2: ranges are defined for GET alone.
    if (method !== 'GET' || (attempt !== null && isOnlyHere(attempt))) return false
    this.#resumption ??= Resumption.of(this.#statusCode, this.#headers, resume)
    return this.#resumption !== null && !this.#resumption.isComplete(this.#received)
  }

  /** The fields of the attempt that is to complete it. */
  fields(): Record<string, string | null> {
    return this.#resumption!.fields(this.#received)
  }

  /** Why this head does not continue it; null if it does. */
  refusal({ statusCode, headers }: Head): string | null {
    return this.#resumption!.refusal(statusCode, headers, this.#received)
  }

  /** So many more bytes of the body. Returns why these bytes cannot belong to it, or null. */
  take(length: number): string | null {
    this.#received += length
    return this.#resumption === null ? null : this.#resumption.refusalOfData(this.#received)
  }

  /** Why it cannot end here; null if it can. */
  refusalOfEnd(): string | null {
    return this.#resumption === null ? null : this.#resumption.refusalOfEnd(this.#received)
  }

  /** For the error of a continuation that is none. */
  get partial(): Head {
    return { statusCode: 206, headers: this.#headers, statusText: undefined }
  }
}
