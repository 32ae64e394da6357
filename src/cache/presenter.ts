/** Makes responses of stored ones: the head that this caller gets, and the reader of the body. */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyReader } from '../relay/body-log.ts'
import type { Caller } from '../relay/caller.ts'
import { announcedLength } from '../relay/fields.ts'
import type { RequestView } from '../relay/request-view.ts'
import { addCacheStatus, type Handling } from './rules/cache-status.ts'
import { type Presentation, presentationOf, presentedHead } from './rules/preconditions.ts'
import { ageOf } from './rules/serving-rules.ts'
import { type ServedHead, Serving } from './serving.ts'
import { blocksOf, discardBody, readerOf, sizeOf } from './store/body-readers.ts'
import type { CacheGetResult, CacheValue } from './store/cache-store.ts'

const STALE_WARNING = '110 - "response is stale"'
const WHOLE: Presentation = { kind: 'whole' }

export class Presenter {
  /** The name for Cache-Status; null if the cache does not add itself. */
  readonly #name: string | null

  constructor(name: string | null) {
    this.#name = name
  }

  /** The same headers, or a copy with Cache-Status. */
  withStatus(headers: HeaderObject, handling: Handling): HeaderObject {
    if (this.#name === null) return headers
    const copy: HeaderObject = { ...headers }
    addCacheStatus(copy, this.#name, handling)
    return copy
  }

  /** A response of the cache itself. */
  refuse(caller: Caller, statusCode: number, statusMessage: string, handling: Handling): Serving {
    return new Serving(caller, { statusCode, statusMessage, headers: this.withStatus({}, handling) }, null)
  }

  headOf(
    value: CacheValue,
    isStale: boolean,
    handling: Handling,
    presentation: Presentation = WHOLE,
  ): ServedHead {
    const head = presentedHead(value, presentation)
    head.headers['age'] = String(ageOf(value, Date.now()))
    if (isStale) head.headers['warning'] = STALE_WARNING
    if (this.#name !== null) addCacheStatus(head.headers, this.#name, handling)
    return head
  }

  /** `isStale` adds the warning. `wrap` sees the body while it is read, if all of it is. */
  present(
    view: RequestView,
    caller: Caller,
    entry: CacheGetResult,
    isStale: boolean,
    handling: Handling,
    wrap: ((reader: BodyReader) => BodyReader) | null = null,
  ): Serving {
    const { method } = view.key
    const blocks = blocksOf(entry.body)
    const length = blocks === null ? announcedLength(entry) : sizeOf(blocks)
    const presentation = presentationOf(entry, view.headers, method, length, Date.now())
    const head = this.headOf(entry, isStale, handling, presentation)
    let reader: BodyReader | null = null
    if (method !== 'HEAD' && presentation.kind === 'whole') {
      reader = readerOf(entry.body, null)
      if (wrap !== null) reader = wrap(reader)
    } else if (method !== 'HEAD' && presentation.kind === 'part') {
      reader = readerOf(entry.body, presentation.range)
    } else {
      discardBody(entry.body)
    }
    return new Serving(caller, head, reader)
  }
}
