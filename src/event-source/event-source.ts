/**
 * The public `EventSource` (HTML §9.2): states, events and the checks of arguments. Requests, reading and
 * reconnecting are done by `event-feed.ts`.
 */

import { getGlobalOrigin } from '../base/address/global-origin.ts'
import { parseUrl } from '../base/address/parse-url.ts'
import { throwLater } from '../base/loop/throw-later.ts'
import { ownMembers } from '../base/object/own-options.ts'
import type { Response } from '../fetch/response.ts'
import { defineEventHandlers, type EventHandlers } from '../web/event-handlers.ts'
import { type MessageEvent, receivedMessage } from '../web/events.ts'
import { requireArguments, toDictionary } from '../web/idl.ts'
import { defineConstants, defineInterface, defineReferencing } from '../web/interface.ts'
import type * as declared from './declared-event-source.ts'
import type { EventName, EventSourceInit, EventSourceNodeOptions } from './declared-event-source.ts'
import { EventFeed, type FeedObserver } from './event-feed.ts'
import type { StreamErrorEvent } from './stream-error-event.ts'
import { readStreamOptions } from './stream-options.ts'
import { StreamRequest } from './stream-request.ts'

const CONNECTING = 0
const OPEN = 1
const CLOSED = 2

type ReadyState = typeof CONNECTING | typeof OPEN | typeof CLOSED

const EVENTS: readonly EventName[] = ['open', 'message', 'error']

export type EventSource = declared.EventSource

type Defined = `on${EventName}` | 'CONNECTING' | 'OPEN' | 'CLOSED'

// biome-ignore lint/correctness/noUnusedVariables: merged with the class, whose static block defines these
interface StreamTarget extends Pick<declared.EventSource, Defined> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: see above
class StreamTarget extends EventTarget {
  declare static readonly CONNECTING: 0
  declare static readonly OPEN: 1
  declare static readonly CLOSED: 2

  readonly #url: URL
  readonly #withCredentials: boolean
  readonly #feed: EventFeed
  readonly #onEvent: ((event: MessageEvent) => void) | null
  #state: ReadyState = CONNECTING
  /** Of the URL that the stream came from, after redirects. */
  #origin = ''
  readonly #handlers: EventHandlers = new Map()

  constructor(url: string | URL, init: EventSourceInit | null = {}) {
    super()
    const where = 'EventSource constructor'
    // biome-ignore lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
    requireArguments(arguments.length, 1, where)
    const { withCredentials, dispatcher, node } = ownMembers(toDictionary(init, where) ?? {})
    const options = ownMembers(toDictionary(node, where) ?? {}) as EventSourceNodeOptions
    this.#url = readUrl(url)
    this.#withCredentials = Boolean(withCredentials)
    this.#onEvent = options.onEvent ?? null
    if (this.#onEvent !== null && typeof this.#onEvent !== 'function') {
      throw new TypeError('onEvent must be a function')
    }
    const plan = readStreamOptions({ ...options, dispatcher: options.dispatcher ?? dispatcher }, 'always')
    const credentials = this.#withCredentials ? 'include' : 'same-origin'
    const observer: FeedObserver = {
      onOpen: (response) => this.#onOpen(response),
      onEvent: (type, data, lastEventId) => this.#receive(type, data, lastEventId),
      onEnd: (event) => this.#onEnd(event),
    }
    this.#feed = new EventFeed(new StreamRequest(this.#url, { credentials }, plan), plan, observer, false)
    if (this.#feed.isOver) this.#state = CLOSED
    void this.#run()
  }

  get url(): string {
    return this.#url.href
  }

  get readyState(): ReadyState {
    // A signal may have ended the feed.
    return this.#feed.isOver ? CLOSED : this.#state
  }

  get withCredentials(): boolean {
    return this.#withCredentials
  }

  get lastEventId(): string {
    return this.#feed.lastEventId
  }

  close(): void {
    this.#state = CLOSED
    this.#feed.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async #run(): Promise<void> {
    while (await this.#feed.advance());
  }

  #onOpen(response: Response): void {
    this.#origin = new URL(response.url).origin
    this.#state = OPEN
    this.dispatchEvent(new Event('open'))
  }

  #receive(type: string, data: string, lastEventId: string): void {
    const event = receivedMessage(type, data, this.#origin, lastEventId)
    if (this.#onEvent !== null) {
      try {
        this.#onEvent(event)
      } catch (error) {
        // As with a listener: the error is uncaught, and the stream continues.
        throwLater(error)
      }
      if (this.#feed.isOver) return
    }
    this.dispatchEvent(event)
  }

  #onEnd(event: StreamErrorEvent): void {
    this.#state = event.willReconnect ? CONNECTING : CLOSED
    this.dispatchEvent(event)
  }

  static {
    defineEventHandlers(StreamTarget.prototype, EVENTS, (source) => source.#handlers)
    defineInterface(StreamTarget, 'EventSource')
    defineConstants(StreamTarget, { CONNECTING, OPEN, CLOSED })
    defineReferencing(StreamTarget.prototype, (source, on) => source.#feed.setReferenced(on))
  }
}

/**
 * Receives the events of a server, and asks for them again when the stream ends.
 *
 * @example
 * const source = new EventSource('https://example.com/events', { node: { headers: { authorization } } })
 * source.addEventListener('message', ({ data }) => console.log(data))
 */
export const EventSource: typeof declared.EventSource = StreamTarget

function readUrl(input: unknown): URL {
  try {
    return parseUrl(String(input), getGlobalOrigin())
  } catch (error) {
    throw new DOMException(String(error), 'SyntaxError')
  }
}
