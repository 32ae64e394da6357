/** `ventuno/event-source`: EventSource, and event streams without it. */

export type {
  EventSourceEventMap,
  EventSourceInit,
  EventSourceNodeOptions,
} from './event-source/declared-event-source.ts'
export { EventSource } from './event-source/event-source.ts'
export type { EventIterator, EventsInit } from './event-source/events.ts'
export { events } from './event-source/events.ts'
export type { EventChunks, EventSourceInput, ParseEventsOptions } from './event-source/parse-events.ts'
export { parseEvents } from './event-source/parse-events.ts'
export type { ServerComment, ServerEvent } from './event-source/server-event.ts'
export type { StreamErrorEvent } from './event-source/stream-error-event.ts'
export type { EventStreamOptions, ReconnectMode, StreamHeaders } from './event-source/stream-options.ts'
