/**
 * One negotiation with a SOCKS 5 proxy, from the greeting to the reply that opens the tunnel: bytes of the
 * proxy in, bytes for the proxy out (RFC 1928, RFC 1929). It decides with the first byte that decides: a
 * proxy that refuses often closes in the middle of its reply. It never throws for bytes of a proxy.
 */
import { Buffer } from 'node:buffer'
import { NO_BYTES } from '../../base/bytes/empty.ts'
import {
  AUTH_VERSION,
  DOMAIN_NAME,
  IPV4,
  IPV6,
  NO_ACCEPTABLE_METHOD,
  NO_AUTH,
  SUCCEEDED,
  USERNAME_PASSWORD,
  VERSION,
} from './constants.ts'
import {
  AUTH_FAILED,
  AUTH_REJECTED,
  failure,
  invalidVersion,
  NO_CREDENTIALS,
  refusal,
  type Socks5Failure,
} from './failures.ts'
import { type Credentials, type Destination, encodeAuth, encodeGreeting, encodeRequest } from './messages.ts'

/** A message that waits for its answer. */
export type Socks5Step = 'greeting' | 'auth' | 'request'

export type NegotiationState =
  | { readonly at: Socks5Step }
  /** `rest`: bytes after the reply, which belong to the tunnel. */
  | { readonly at: 'open'; readonly rest: Buffer }
  /** `step`: the message whose answer was wrong, or a refusal. */
  | { readonly at: 'failed'; readonly step: Socks5Step; readonly failure: Socks5Failure }

/** What one answer leads to: the next message, the end, or nothing as long as bytes are missing. */
type Outcome =
  | { readonly take: number; readonly next: Socks5Step; readonly send: Buffer }
  | { readonly take: number; readonly next: 'open' }
  | Socks5Failure
  | null

/** Version and method, or version and status. */
const SHORT_ANSWER = 2
/** Version, reply, reserved, address type. */
const REPLY_HEAD = 4
const PORT_LENGTH = 2

export class Socks5Negotiation {
  readonly #destination: Destination
  readonly #credentials: Credentials | null
  state: NegotiationState = { at: 'greeting' }
  /** The beginning of an answer: at most a reply with a name of 255 bytes. */
  #held: Buffer = NO_BYTES

  constructor(destination: Destination, credentials: Credentials | null) {
    this.#destination = destination
    this.#credentials = credentials
  }

  /** The bytes to send first. */
  start(): Buffer {
    return encodeGreeting(this.#credentials !== null)
  }

  /** Takes bytes of the proxy, and returns those to send next, often none. */
  receive(bytes: Uint8Array): Buffer {
    const output: Buffer[] = []
    this.#held = Buffer.concat([this.#held, bytes])
    for (let state = this.state; state.at !== 'open' && state.at !== 'failed'; state = this.state) {
      const outcome = this.#readAnswer(state.at, this.#held)
      if (outcome === null) break
      this.#proceed(state.at, outcome, output)
    }
    return Buffer.concat(output)
  }

  #proceed(step: Socks5Step, outcome: NonNullable<Outcome>, output: Buffer[]): void {
    if (!('take' in outcome)) {
      this.state = { at: 'failed', step, failure: outcome }
      this.#held = NO_BYTES
      return
    }
    const rest = this.#held.subarray(outcome.take)
    if (outcome.next === 'open') {
      this.state = { at: 'open', rest }
      this.#held = NO_BYTES
      return
    }
    this.state = { at: outcome.next }
    this.#held = rest
    output.push(outcome.send)
  }

  #readAnswer(step: Socks5Step, bytes: Buffer): Outcome {
    if (step === 'greeting') return this.#readMethod(bytes)
    return step === 'auth' ? this.#readAuth(bytes) : readReply(bytes)
  }

  #readMethod(bytes: Buffer): Outcome {
    const [version, method] = bytes
    if (version !== undefined && version !== VERSION) return invalidVersion(version)
    if (method === undefined) return null
    if (method === NO_AUTH) return this.#request()
    if (method === NO_ACCEPTABLE_METHOD) return AUTH_REJECTED
    if (method !== USERNAME_PASSWORD) {
      return failure('UND_ERR_SOCKS5_AUTH_METHOD', `Unsupported authentication method: ${method}`)
    }
    if (this.#credentials === null) return NO_CREDENTIALS
    return { take: SHORT_ANSWER, next: 'auth', send: encodeAuth(this.#credentials) }
  }

  #readAuth(bytes: Buffer): Outcome {
    const [version, status] = bytes
    if (version !== undefined && version !== AUTH_VERSION) {
      return failure('UND_ERR_SOCKS5_AUTH_VERSION', `Invalid auth sub-negotiation version: ${version}`)
    }
    if (status === undefined) return null
    return status === SUCCEEDED ? this.#request() : AUTH_FAILED
  }

  #request(): Outcome {
    return { take: SHORT_ANSWER, next: 'request', send: encodeRequest(this.#destination) }
  }
}

function readReply(bytes: Buffer): Outcome {
  const [version, reply, , type, nameLength] = bytes
  if (version !== undefined && version !== VERSION) {
    return failure('UND_ERR_SOCKS5_REPLY_VERSION', `Invalid SOCKS version in reply: ${version}`)
  }
  if (reply !== undefined && reply !== SUCCEEDED) return refusal(reply)
  if (type === undefined) return null
  const length = addressLength(type, nameLength)
  if (length === null) return failure('UND_ERR_SOCKS5_ADDR_TYPE', `Invalid address type in reply: ${type}`)
  const take = REPLY_HEAD + length + PORT_LENGTH
  return bytes.length < take ? null : { take, next: 'open' }
}

/** The address that the proxy connects from is of no use here; only its length counts. */
function addressLength(type: number, nameLength = 0): number | null {
  if (type === IPV4) return 4
  if (type === IPV6) return 16
  return type === DOMAIN_NAME ? 1 + nameLength : null
}
