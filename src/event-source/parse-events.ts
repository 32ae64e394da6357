/** `parseEvents()`: the parser alone, for bytes from anywhere. */

import { ownMembers } from '../base/object/own-options.ts'
import { DEFAULT_MAX_EVENT_SIZE } from '../dispatcher/event-source-options.ts'
import { InvalidArgumentError, ResponseExceededMaxSizeError } from '../errors.ts'
import { toBytes } from '../fetch/body/feed.ts'
import { integerFrom, isAnything, isString, option, readOptions } from '../options.ts'
import { eventLimits } from '../protocol/event-stream/limits.ts'
import { type EventSink, EventStreamParser } from '../protocol/event-stream/parser.ts'
import type { ServerComment, ServerEvent, StreamItem } from './server-event.ts'

/** Chunks of an event stream. */
export type EventChunks = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>

/** What `parseEvents()` reads: a stream, an iterable of chunks, a response, or the whole text. */
export type EventSourceInput = EventChunks | { readonly body: EventChunks | null } | Uint8Array | string

/** Options of `parseEvents()`. */
export interface ParseEventsOptions {
  /** Yield comments, too. Default: false. */
  comments?: boolean | undefined
  /** The id of events before the first that has one. Default: empty. */
  lastEventId?: string | undefined
  /** The maximum size of an event in bytes; 0 for no limit. Default: 16777216. */
  maxEventSize?: number | undefined
}

const OPTIONS = {
  maxEventSize: option(DEFAULT_MAX_EVENT_SIZE, integerFrom(0)),
  lastEventId: option('', isString),
  comments: option<unknown>(false, isAnything),
}

/**
 * The events in the bytes of a stream, however they are split. Leaving the loop ends the stream.
 *
 * @example
 * for await (const { data } of parseEvents(await fetch(url))) console.log(data)
 */
export function parseEvents(
  input: EventSourceInput,
  options: ParseEventsOptions & { comments: true },
): AsyncGenerator<ServerEvent | ServerComment, void, void>
export function parseEvents(
  input: EventSourceInput,
  options?: ParseEventsOptions | null,
): AsyncGenerator<ServerEvent, void, void>
export function parseEvents(
  input: EventSourceInput,
  options: ParseEventsOptions | null = null,
): AsyncGenerator<StreamItem, void, void> {
  const { maxEventSize, lastEventId, comments } = readOptions(OPTIONS, Object(ownMembers(options)))
  return parse(chunksOf(input), maxEventSize, lastEventId, Boolean(comments))
}

async function* parse(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  maxEventSize: number,
  lastEventId: string,
  comments: boolean,
): AsyncGenerator<StreamItem, void, void> {
  let items: StreamItem[] = []
  let failure: string | null = null
  const sink: EventSink = {
    onEvent: (event, data, id) => void items.push({ event, data, id }),
    onRetry() {},
    onFailure: ({ message }) => {
      failure = message
    },
  }
  if (comments) sink.onComment = (comment) => void items.push({ comment })
  const parser = new EventStreamParser(sink, eventLimits(maxEventSize), lastEventId)
  for await (const chunk of chunks) {
    const bytes = toBytes(chunk)
    if (bytes === null) throw new TypeError('A chunk of an event stream must be a string or a Uint8Array')
    parser.push(bytes)
    const read = items
    items = []
    yield* read
    if (failure !== null) throw new ResponseExceededMaxSizeError(failure)
  }
}

function chunksOf(input: unknown): AsyncIterable<unknown> | Iterable<unknown> {
  if (typeof input === 'string' || input instanceof Uint8Array) return [input]
  if (isIterable(input)) return input
  const body = (input as { readonly body?: unknown } | null | undefined)?.body
  if (body === null) return []
  if (isIterable(body)) return body
  throw new InvalidArgumentError('input must be a stream, an iterable or a response')
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}
