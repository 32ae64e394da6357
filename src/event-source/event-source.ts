/**
 * The public `EventSource` (HTML §9.2): states, events and the checks of arguments. Requests, reading and reconnecting
 * are done by `event-feed.ts`.
 */

import { getGlobalOrigin } from '../base/global-origin.ts'
import { defineKind, isInstance } from '../base/kind.ts'
import { withoutPollution } from '../base/own-options.ts'
import { parseUrl } from '../base/parse-url.ts'
import { throwLater } from '../base/throw-later.ts'
import type { Response } from '../fetch/response.ts'
import { EventHandlers } from '../websocket/event-handlers.ts'
import { type MessageEvent, receivedMessage } from '../websocket/events.ts'
import { defineInterface, toDictionary } from '../websocket/web-idl.ts'
import type * as declared from './declared-event-source.ts'
import type {
  EventName,
  EventSourceEventMap,
  EventSourceInit,
  EventSourceNodeOptions,
} from './declared-event-source.ts'
import { EventFeed } from './event-feed.ts'
import type { StreamErrorEvent } from './stream-error-event.ts'
import { readStreamOptions } from './stream-options.ts'

type Handler<K extends EventName> = declared.Handler<EventSourceEventMap[K]>

const CONNECTING = 0
const OPEN = 1
const CLOSED = 2

type ReadyState = typeof CONNECTING | typeof OPEN | typeof CLOSED

/** Missing before Node 20.4, and then in no program. */
const DISPOSE: symbol | undefined = (Symbol as { dispose?: symbol }).dispose

export type EventSource = declared.EventSource

/**
 * Receives the events of a server, and asks for them again when the stream ends.
 *
 * @example
 * const source = new EventSource('https://example.com/events', { node: { headers: { authorization } } })
 * source.addEventListener('message', ({ data }) => console.log(data))
 */
export const EventSource: typeof declared.EventSource = class EventSource extends EventTarget {
  declare static readonly CONNECTING: 0
  declare static readonly OPEN: 1
  declare static readonly CLOSED: 2

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this, and get the ordinary check
    return isInstance(this, value)
  }

  declare readonly CONNECTING: 0
  declare readonly OPEN: 1
  declare readonly CLOSED: 2

  readonly #url: URL
  readonly #withCredentials: boolean
  readonly #feed: EventFeed
  readonly #onEvent: ((event: MessageEvent) => void) | null
  #state: ReadyState = CONNECTING
  /** Of the URL that the stream came from, after redirects. */
  #origin = ''
  readonly #handlers = new EventHandlers<EventName>(this)

  constructor(url: string | URL, init: EventSourceInit | null = {}) {
    super()
    const where = 'EventSource constructor'
    // biome-ignore lint/complexity/noArguments: for Web IDL an argument left out is not `undefined`.
    if (arguments.length === 0) throw new TypeError(`${where}: 1 argument required, but 0 found.`)
    const { withCredentials, dispatcher, node } = withoutPollution(toDictionary(init, where))
    const options = withoutPollution(toDictionary(node, where)) as EventSourceNodeOptions
    this.#url = readUrl(url)
    this.#withCredentials = Boolean(withCredentials)
    this.#onEvent = readListener(options.onEvent)
    const plan = readStreamOptions({ ...options, dispatcher: options.dispatcher ?? dispatcher }, 'always')
    const credentials = this.#withCredentials ? 'include' : 'same-origin'
    this.#feed = new EventFeed(
      this.#url,
      { credentials },
      plan,
      {
        onOpen: (response) => this.#onOpen(response),
        onEvent: (type, data, lastEventId) => this.#receive(type, data, lastEventId),
        onEnd: (event) => this.#onEnd(event),
      },
      false,
    )
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

  get onopen(): Handler<'open'> {
    return this.#handlers.get('open') as Handler<'open'>
  }

  set onopen(handler: Handler<'open'>) {
    this.#handlers.set('open', handler)
  }

  get onmessage(): Handler<'message'> {
    return this.#handlers.get('message') as Handler<'message'>
  }

  set onmessage(handler: Handler<'message'>) {
    this.#handlers.set('message', handler)
  }

  get onerror(): declared.EventSource['onerror'] {
    return this.#handlers.get('error') as declared.EventSource['onerror']
  }

  set onerror(handler: Handler<'error'>) {
    this.#handlers.set('error', handler)
  }

  close(): void {
    this.#state = CLOSED
    this.#feed.close()
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
        // As with a listener: the error is not lost, and the stream goes on.
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
    defineInterface(EventSource, 'EventSource')
    for (const [name, value] of Object.entries({ CONNECTING, OPEN, CLOSED })) {
      Object.defineProperty(EventSource, name, { value, enumerable: true })
      Object.defineProperty(EventSource.prototype, name, { value, enumerable: true })
    }
    // `process.ref` and `process.unref` call these: does the wait for the next attempt keep the process running?
    for (const [name, on] of [['nodejs.ref', true] as const, ['nodejs.unref', false] as const]) {
      Object.defineProperty(EventSource.prototype, Symbol.for(name), {
        value(this: EventSource): void {
          this.#feed.setReferenced(on)
        },
      })
    }
    if (DISPOSE !== undefined) {
      Object.defineProperty(EventSource.prototype, DISPOSE, {
        value(this: EventSource): void {
          this.close()
        },
      })
    }
  }
}

defineKind(EventSource, 'ventuno.EventSource')

function readUrl(input: unknown): URL {
  try {
    return parseUrl(String(input), getGlobalOrigin())
  } catch (error) {
    throw new DOMException(String(error), 'SyntaxError')
  }
}

function readListener(value: unknown): ((event: MessageEvent) => void) | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'function') throw new TypeError('onEvent must be a function')
  return value as (event: MessageEvent) => void
}
