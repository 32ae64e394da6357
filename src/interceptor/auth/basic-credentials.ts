/** `Basic` (RFC 7617): the same field with each request. */

import type { Credentials, Proof } from './credentials.ts'
import type { AuthUser } from './options.ts'

export class BasicCredentials implements Credentials {
  readonly #proof: Proof

  constructor({ username, password }: AuthUser) {
    // §2.1: as UTF-8, in one normal form.
    const text = `${username}:${password}`.normalize('NFC')
    this.#proof = { field: `Basic ${Buffer.from(text).toString('base64')}` }
  }

  prove(): Proof {
    return this.#proof
  }

  leave(): void {}

  onRefused(): boolean {
    return false
  }

  onAnswered(): void {}
}
