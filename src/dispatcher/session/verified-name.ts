/**
 * The server name that a connection was verified for, and so the requests that may use it. A request may ask
 * for a name; one that does not gets the name that the connector presents then. Only a caller's function may
 * present what it likes: its choice is not known before it has opened a connection.
 */
import type { Duplex } from 'node:stream'
import { serverNameOf } from '../../base/address/server-name.ts'
import type { OriginContext } from './origin-context.ts'

export class VerifiedName {
  readonly #context: OriginContext
  /** Null if that was left to a caller's function. */
  readonly #asked: string | null
  /** The name that was presented. */
  readonly #presented: string

  /** @param given the name that the request asked for, null for none */
  constructor(context: OriginContext, given: string | null, socket: Duplex) {
    this.#context = context
    this.#asked = given ?? context.serverName
    this.#presented = this.#asked ?? nameOf(socket) ?? serverNameOf(context.origin.host)
  }

  /** Whether a request that asks for this name, null for none, may use the connection. */
  suits(given: string | null): boolean {
    const asked = given ?? this.#context.serverName
    return asked === this.#asked || asked === this.#presented
  }
}

/** A TLS socket of the runtime knows the name that it has sent. */
function nameOf(socket: Duplex): string | null {
  const { servername } = socket as Duplex & { readonly servername?: unknown }
  return typeof servername === 'string' ? servername : null
}
