/** Records the messages on the channels of requests and connections while a test runs. */
import diagnostics from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import { TRAFFIC_CHANNELS } from './channel-names.ts'

/** The members of messages that tests check; the channel determines which exist. */
export interface Message {
  readonly request: PublishedRequest
  readonly response: { statusCode: number; headers: Buffer[]; statusText: string }
  readonly trailers: Buffer[]
  readonly headers: string
  readonly chunk: string | Uint8Array
  readonly error: Error
  readonly socket: { remoteAddress?: string; remotePort?: number }
  readonly connectParams: Record<string, unknown>
  readonly connector: unknown
}

/** The request as instrumentations see it. */
export interface PublishedRequest {
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: (string | string[])[]
  readonly completed: boolean
  readonly aborted: boolean
  readonly idempotent: boolean
  readonly contentLength: number | null
  readonly contentType: string | null
  readonly body: unknown
  addHeader(name: string, value: string): PublishedRequest
  abort(reason?: Error): void
}

export class ChannelLog {
  /** Names without `undici:`, in the order of publication. */
  readonly names: string[] = []
  readonly messages: Message[] = []

  constructor(t: TestContext) {
    for (const name of TRAFFIC_CHANNELS) {
      hear(t, name, (message) => {
        this.names.push(name.slice('undici:'.length))
        this.messages.push(message)
      })
    }
  }

  /** Records another event whose position in the order matters. */
  note(event: string): void {
    this.names.push(event)
    this.messages.push({} as Message)
  }

  /** Messages of one channel, from a position on. */
  of(name: string, from = 0): Message[] {
    return this.messages.filter((_, index) => index >= from && this.names[index] === name)
  }

  /** The only message of a channel. */
  one(name: string): Message {
    const found = this.of(name)
    if (found.length !== 1) throw new Error(`${found.length} messages on ${name}`)
    return found[0]!
  }
}

/** Listens to one channel until the test ends. */
export function hear(t: TestContext, name: string, listener: (message: Message) => void): void {
  const subscriber = (message: unknown): void => listener(message as Message)
  diagnostics.subscribe(name, subscriber)
  t.after(() => diagnostics.unsubscribe(name, subscriber))
}
