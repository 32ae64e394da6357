// An EventSource as programs declare it. Compiled, never run.
import {
  Agent,
  type ErrorEvent,
  EventSource,
  type EventSourceInit,
  type EventSourceNodeOptions,
  type EventSourceOptions,
  type HeaderObject,
  type MessageEvent,
  type StreamErrorEvent,
} from '../../src/index.ts'
import type { Equal } from './equal.ts'

const limits: EventSourceOptions = { maxEventSize: 1024 }
const dispatcher = new Agent({ eventSource: limits })
const node: EventSourceNodeOptions = {
  dispatcher,
  method: 'POST',
  body: 'prompt',
  headers: () => ({ authorization: 'Bearer' }),
  signal: AbortSignal.timeout(1000),
  reconnect: 'on-error',
  retryStatus: [429] as const,
  shouldReconnect: ({ statusCode }) => statusCode === null,
  onEvent: ({ data }) => console.log(data),
}
const init: EventSourceInit = { withCredentials: true, dispatcher, node }
export const source: EventSource = new EventSource(new URL('http://a.test'), init)

source.onerror = function (event) {
  const error: ErrorEvent = event
  const headers: HeaderObject | null = event.headers
  console.log(this.url, error.message, headers?.['x-id'], event.willReconnect && event.delay)
}
source.addEventListener('message', ({ data, lastEventId }) => console.log(data, lastEventId))
source.addEventListener('any name', (event) => {
  const same: Equal<typeof event, MessageEvent> = true
  return same
})
source.addEventListener('error', (event) => {
  const same: Equal<typeof event, StreamErrorEvent> = true
  return same
})
// @ts-expect-error: not a mode
export const wrong: EventSourceNodeOptions = { reconnect: true }
