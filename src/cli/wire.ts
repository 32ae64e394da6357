/** What is sent and received on the connections of a run: every attempt, also those that nobody else sees. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Dialer } from './dialer.ts'
import type { Outgoing } from './message.ts'
import type { Field } from './secrets.ts'

/** A redirect that was followed. */
export interface Hop {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly Field[]
  /** What the redirect asked for. */
  readonly to: URL
}

/** A request that is sent again. */
export interface Repeated {
  /** Why: a status, or the code of an error. */
  readonly reason: string
  /** How often it has failed. */
  readonly count: number
  /** Milliseconds. */
  readonly delay: number
}

export interface WireEvents {
  readonly onRedirect: (hop: Hop) => void
  readonly onRetry: (repeated: Repeated) => void
}

interface Attempt {
  readonly request: object
  readonly method: string
  readonly fields: readonly Field[]
  head: Omit<Hop, 'to'> | null
}

interface SentHead {
  readonly request: { readonly origin: string | URL; readonly path: string; readonly method: string }
  readonly headers: string
  readonly socket: object
}

interface ReceivedHead {
  readonly request: object
  readonly response: { readonly statusCode: number; readonly statusText: string; readonly headers: Buffer[] }
}

interface Retry {
  readonly error: Error & { readonly code?: string; readonly statusCode?: number }
  readonly counter: number
  readonly delay: number | null
}

export class Wire {
  /** The latest attempt. */
  last: Attempt | null = null
  readonly stop: () => void

  constructor(dialer: Dialer, outgoing: Outgoing, { onRedirect, onRetry }: WireEvents) {
    const { body, size, location } = outgoing
    const onSent = ({ request, headers, socket }: SentHead): void => {
      if (!dialer.owns(socket)) return
      const before = this.last?.head
      if (location && before && before.status >= 300 && before.status < 400) {
        onRedirect({ ...before, to: new URL(request.path, request.origin) })
      }
      const fields = fieldsOf(headers)
      const method = field(fields, ':method') ?? request.method
      // Over HTTP/1.1 the field that frames the body is added after the message was published.
      const isFramed = /^(?:content-length|transfer-encoding|:method): /im.test(headers)
      if (body !== null && !isFramed && method === outgoing.method) {
        fields.push(size > 0 ? ['content-length', String(size)] : ['transfer-encoding', 'chunked'])
      }
      this.last = { request, method, fields, head: null }
    }
    const onReceived = ({ request, response }: ReceivedHead): void => {
      if (this.last?.request !== request || response.statusCode < 200) return
      const { statusCode: status, statusText } = response
      const text = response.headers.map((bytes) => bytes.toString('latin1'))
      const pair = (_: string, i: number): Field => [text[2 * i]!, text[2 * i + 1]!]
      this.last.head = { status, statusText, headers: text.slice(0, text.length / 2).map(pair) }
    }
    const onRepeated = ({ error, counter, delay }: Retry): void =>
      onRetry({
        reason: String(error.statusCode ?? error.code ?? error.message),
        count: counter,
        delay: delay ?? 0,
      })
    const channels = [
      ['undici:client:sendHeaders', onSent],
      ['undici:request:headers', onReceived],
      ['ventuno:request:retry', onRepeated],
    ] as readonly [string, (message: unknown) => void][]
    for (const [name, listener] of channels) subscribe(name, listener)
    this.stop = () => {
      for (const [name, listener] of channels) unsubscribe(name, listener)
    }
  }
}

function field(fields: readonly Field[], wanted: string): string | null {
  return fields.find(([name]) => name === wanted)?.[1] ?? null
}

/** Of a head as text, without the request line of HTTP/1.1. */
function fieldsOf(head: string): Field[] {
  const lines = head.split('\r\n').filter((line) => line !== '')
  if (/ HTTP\/1\.1$/.test(lines[0]!)) lines.shift()
  return lines.map((line): Field => {
    // A pseudo-header field of HTTP/2 begins with a colon.
    const colon = line.indexOf(':', 1)
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
}
