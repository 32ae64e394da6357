/** Why an event stream, or the attempt to get it, has ended, and what follows. */
import { ResponseError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { ErrorEvent, type ErrorEvent as ErrorEventMembers } from '../web/events.ts'

/** The `error` event of an `EventSource`. */
export interface StreamErrorEvent extends ErrorEventMembers {
  /** Null if the server ended the stream normally. */
  readonly error: unknown
  /** Of a response that was refused; null without one. */
  readonly statusCode: number | null
  /** Of a response that was refused; null without one. */
  readonly headers: HeaderObject | null
  /** The beginning of the body of a response that was refused, up to 64 KiB; null without one. */
  readonly body: string | null
  /** Whether the stream is asked for again. */
  readonly willReconnect: boolean
  /** Milliseconds until then; null if it is not asked for again. */
  readonly delay: number | null
  /** How many attempts in a row have brought no event, with this one. */
  readonly attempt: number
}

const ENDED = 'The server has ended the stream'

/** `delay` is null if the stream is not asked for again. */
export function streamErrorEvent(error: unknown, delay: number | null, attempt: number): StreamErrorEvent {
  const response = error instanceof ResponseError ? error : null
  const event = new ErrorEvent('error', { error, message: error === null ? ENDED : messageOf(error) })
  return Object.assign(event, {
    statusCode: response?.statusCode ?? null,
    headers: (response?.headers ?? null) as HeaderObject | null,
    body: (response?.body ?? null) as string | null,
    willReconnect: delay !== null,
    delay,
    attempt,
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}
