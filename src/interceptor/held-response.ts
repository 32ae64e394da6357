/** A response that is kept back until it is known whether the handler gets it. */
import { BodyBytes } from '../base/body-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'

export interface Head {
  readonly statusCode: number
  readonly headers: HeaderObject
  readonly statusText: string | undefined
}

export class HeldResponse {
  readonly head: Head
  /** What has come of its body. A paused attempt of a dispatcher of ours brings nothing. */
  readonly body: BodyBytes = BodyBytes.none()
  /** How the attempt has ended, if it has. */
  outcome: { readonly trailers: HeaderObject } | { readonly error: Error } | null = null

  constructor(head: Head) {
    this.head = head
  }
}
