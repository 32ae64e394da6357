/** Makes responses from stored ones: the head that this caller gets, and the reader of the body. */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyReader } from '../relay/body-log.ts'
import type { Downstream } from '../relay/downstream.ts'
import { announcedLength } from '../relay/fields.ts'
import { OwnReceived } from '../relay/own-received.ts'
import type { RequestView } from '../relay/request-view.ts'
import { NO_FACTS, type ResponseFacts } from '../relay/response-facts.ts'
import type { Head, Received } from '../relay/response-source.ts'
import type { HeldRequests } from '../request/dispatching.ts'
import { newTimings } from '../request/timings.ts'
import { addCacheStatus, type Handling } from './rules/cache-status.ts'
import { type Presentation, presentationOf, presentedHead, WHOLE } from './rules/preconditions.ts'
import { ageOf } from './rules/serving-rules.ts'
import { Serving } from './serving.ts'
import type { CacheValue } from './store/cache-store.ts'
import { discardBody, type Found, readerOf, sizeOf } from './store/found.ts'
import { StoredStream } from './store/stored-stream.ts'

const STALE_WARNING = '110 - "response is stale"'

/** How a stored response came to answer the request. */
export interface Answering {
  readonly handling: Handling
  readonly facts: ResponseFacts
  /** Adds the warning. */
  readonly isStale?: boolean
  /** Sees the body while it is read, if all of it is. */
  readonly wrap?: ((reader: BodyReader) => BodyReader) | null
}

export class Presenter {
  /** The name for Cache-Status; null if the cache does not add itself. */
  readonly #name: string | null
  readonly #held: HeldRequests | undefined
  /** The limit of the dispatcher's responses, as far as it is known; stored ones obey it as well. */
  maxResponseSize: number | undefined

  constructor(name: string | null, held: HeldRequests | undefined) {
    this.#name = name
    this.#held = held
  }

  /** The same headers, or a copy with Cache-Status. */
  withStatus(headers: HeaderObject, handling: Handling): HeaderObject {
    if (this.#name === null) return headers
    const copy: HeaderObject = { ...headers }
    addCacheStatus(copy, this.#name, handling)
    return copy
  }

  /** What comes with a head that the cache has made. */
  receivedWith({ headers }: Head, { queuedAt }: RequestView): Received {
    const maxResponseSize = this.maxResponseSize ?? -1
    return new OwnReceived(headers, { timings: newTimings(queuedAt), maxResponseSize }, null)
  }

  /** A response of the cache itself. */
  refuse(view: RequestView, downstream: Downstream, handling: Handling): Serving {
    const head = { statusCode: 504, statusText: 'Gateway Timeout', headers: this.withStatus({}, handling) }
    const received = this.receivedWith(head, view)
    return new Serving(downstream, { head, received, facts: NO_FACTS, reader: null })
  }

  headOf(value: CacheValue, isStale: boolean, handling: Handling, presentation: Presentation = WHOLE): Head {
    const head = presentedHead(value, presentation)
    head.headers['age'] = String(ageOf(value, Date.now()))
    if (isStale) head.headers['warning'] = STALE_WARNING
    if (this.#name !== null) addCacheStatus(head.headers, this.#name, handling)
    return head
  }

  present(view: RequestView, downstream: Downstream, entry: Found, answering: Answering): Serving {
    const { handling, facts, isStale = false, wrap = null } = answering
    const { body } = entry
    const length = body instanceof StoredStream ? announcedLength(entry) : sizeOf(body)
    const presentation = presentationOf(entry, view, length)
    const head = this.headOf(entry, isStale, handling, presentation)
    const range = presentation.kind === 'part' ? presentation.range : undefined
    const hasBody = view.key.method !== 'HEAD' && (range !== undefined || presentation.kind === 'whole')
    let reader = hasBody ? readerOf(body, range) : null
    if (reader === null) discardBody(body)
    else if (wrap !== null && range === undefined) reader = wrap(reader)
    const served = { head, received: this.receivedWith(head, view), facts, reader }
    // A stream of the store may keep its caller waiting.
    return new Serving(downstream, served, body instanceof StoredStream ? this.#held : undefined)
  }
}
